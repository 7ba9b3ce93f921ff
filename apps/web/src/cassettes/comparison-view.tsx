import type { ComparisonReport, RunSummary } from "@tandem/protocol";
import { count, duration } from "../text/format.ts";
import { ReportPatch } from "./report-patch.tsx";

/** Two runs side by side: answers, calls with results, cost, time and files. */
export function ComparisonView({ names, a, b, files }: ComparisonReport) {
  const rows: [name: string, left: string, right: string][] = [
    ["Model", a.model, b.model],
    ...pairs("Answer", a.answers, b.answers),
    ...pairs("Call", a.tools, b.tools),
    ...pairs("Result", a.results, b.results),
    ["Approvals", String(a.approvals), String(b.approvals)],
    ["List price", priceOf(a), priceOf(b)],
    ["Tokens", count(a.tokens), count(b.tokens)],
    ["Time", timeOf(a), timeOf(b)],
  ];
  return (
    <div className="space-y-6">
      <div className="overflow-x-auto rounded-lg border border-line bg-surface">
        <table className="w-full min-w-[36rem] table-fixed text-left text-sm">
          <thead>
            <tr className="border-b border-line">
              <th scope="col" className="w-28 px-3 py-2 text-xs font-medium text-ink-faint">
                Part
              </th>
              {names.map((name, index) => (
                <th key={index} scope="col" className="truncate px-3 py-2 font-semibold" title={name}>
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([name, left, right]) => (
              <tr key={name} className="border-b border-line align-top last:border-0">
                <th scope="row" className="px-3 py-2 text-xs font-medium text-ink-faint">
                  {name}
                  {left !== right && <span className="block text-wait">differs</span>}
                </th>
                <Cell text={left} look={left === right ? "" : "bg-removed"} />
                <Cell text={right} look={left === right ? "" : "bg-added"} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <section aria-label="Files" className="space-y-2">
        <h2 className="text-sm font-medium text-ink-soft">Files after the last turn</h2>
        {files === null && <p className="text-sm text-ink-soft">A cassette has no folder to compare.</p>}
        {files === "" && <p className="text-sm text-ink-soft">The files are the same.</p>}
        {files !== null && files !== "" && <ReportPatch lines={files.trimEnd().split("\n")} label="Files" />}
      </section>
    </div>
  );
}

const Cell = ({ text, look }: { text: string; look: string }) => (
  <td className={`px-3 py-2 break-words whitespace-pre-wrap tabular-nums ${look}`}>{text}</td>
);

const pairs = (name: string, a: readonly string[], b: readonly string[]): [string, string, string][] =>
  Array.from({ length: Math.max(a.length, b.length) }, (_, index) => [
    `${name} ${index + 1}`,
    a[index] ?? "–",
    b[index] ?? "–",
  ]);

const priceOf = ({ usd }: RunSummary): string => (usd === null ? "unknown" : `$${usd}`);

const timeOf = ({ duration_ms: ms }: RunSummary): string => (ms === null ? "–" : duration(ms));
