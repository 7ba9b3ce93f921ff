import type { Message } from "@tandem/protocol";
import { useId, useMemo, useState } from "react";
import { duration } from "../../../text/format.ts";
import { type TurnSpan, turnSpans } from "./turn-spans.ts";

const LANES = [
  ["model", "Model", "bg-accent"],
  ["tool", "Tools", "bg-good"],
  ["waiting", "Waiting", "bg-wait-mark"],
] as const;

/** When a turn used the model and tools, and when it waited, with the same as a table. */
export default function TurnTimeline({ messages }: { messages: readonly Message[] }) {
  const spans = useMemo(() => turnSpans(messages), [messages]);
  const [isTable, setTable] = useState(false);
  const id = useId();
  if (spans.length === 0) return <p className="pb-3 text-xs text-ink-faint">No times are known for this turn.</p>;
  const start = spans[0]!.from;
  const length = Math.max(...spans.map(({ to }) => to)) - start;
  const total = (kind: TurnSpan["kind"]): number =>
    spans.filter((span) => span.kind === kind).reduce((sum, { from, to }) => sum + to - from, 0);
  return (
    <figure aria-labelledby={id} className="mb-3 rounded-lg border border-line bg-surface p-3 text-xs text-ink-soft">
      <figcaption className="mb-2 flex gap-3">
        <span id={id} className="font-medium">
          Turn timeline, {duration(length)}
        </span>
        <button
          type="button"
          aria-pressed={isTable}
          onClick={() => setTable(!isTable)}
          className="ml-auto min-h-6 rounded text-accent underline-offset-2 hover:underline"
        >
          {isTable ? "Show chart" : "Show table"}
        </button>
      </figcaption>
      {isTable ? (
        <section tabIndex={0} aria-label="Turn timeline, table" className="max-h-60 overflow-auto">
          <table className="w-full tabular-nums">
            <thead className="text-left text-ink-faint">
              <tr>
                {["Start", "Kind", "Name", "Duration"].map((name) => (
                  <th key={name} scope="col" className="pr-3 font-medium last:pr-0 last:text-right">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {spans.map(({ kind, label, from, to }, index) => (
                <tr key={index}>
                  <td className="pr-3">{duration(from - start)}</td>
                  <td className="pr-3">{LANES.find(([name]) => name === kind)![1]}</td>
                  <td className="pr-3 wrap-anywhere">{label}</td>
                  <td className="text-right">{duration(to - from)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      ) : (
        <dl className="grid grid-cols-[auto_minmax(0,1fr)_auto] items-center gap-x-3 gap-y-1.5">
          {LANES.filter(([kind]) => total(kind) > 0).map(([kind, name, look]) => (
            <div key={kind} className="contents">
              <dt>{name}</dt>
              <dd aria-hidden className="relative h-3 rounded bg-raised forced-color-adjust-none">
                {spans
                  .filter((span) => span.kind === kind)
                  .map(({ label, from, to }, index) => (
                    <span
                      key={index}
                      title={`${label}, ${duration(to - from)}`}
                      className={`absolute inset-y-0 min-w-px rounded-sm ${look}`}
                      style={{ left: `${((from - start) / length) * 100}%`, width: `${((to - from) / length) * 100}%` }}
                    />
                  ))}
              </dd>
              <dd className="text-right tabular-nums">{duration(total(kind))}</dd>
            </div>
          ))}
        </dl>
      )}
    </figure>
  );
}
