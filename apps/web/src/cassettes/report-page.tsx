import type { CassetteReport } from "@tandem/protocol";
import { type DragEvent, useEffect, useRef, useState } from "react";
import { usePageTitle } from "../state/page-title.ts";
import { Button } from "../ui/button.tsx";
import { Empty } from "../ui/empty.tsx";
import { Problem } from "../ui/problem.tsx";
import { ComparisonView } from "./comparison-view.tsx";
import { DivergenceView } from "./divergence-view.tsx";
import { readReport, readReportLink } from "./read-report.ts";

type Shown = { report: CassetteReport } | { error: unknown } | undefined;

const settle = (reading: Promise<CassetteReport | undefined>): Promise<Shown> =>
  reading.then(
    (report) => report && { report },
    (error: unknown) => ({ error }),
  );

/** Shows a report of `tandem cassettes` from a link or a file. The file stays in the browser. */
export function ReportPage() {
  const [shown, setShown] = useState<Shown>();
  const input = useRef<HTMLInputElement>(null);
  usePageTitle("Test case report");
  useEffect(() => {
    const read = (): void => void settle(readReportLink(location.hash)).then((now) => now && setShown(now));
    read();
    addEventListener("hashchange", read);
    return () => removeEventListener("hashchange", read);
  }, []);
  const open = (files: FileList | null): void => {
    const [file] = files ?? [];
    if (file) void settle(file.text().then(readReport)).then(setShown);
  };
  const onDrop = (event: DragEvent): void => {
    event.preventDefault();
    open(event.dataTransfer.files);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- the button below opens files, too
    <div className="flex h-full flex-col" onDragOver={(event) => event.preventDefault()} onDrop={onDrop}>
      <header className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2.5">
        <h1 className="flex-1 text-base font-semibold">Test case report</h1>
        <input
          ref={input}
          type="file"
          accept=".json,application/json"
          aria-label="Report"
          className="sr-only"
          tabIndex={-1}
          onChange={({ target }) => {
            open(target.files);
            target.value = "";
          }}
        />
        <Button onClick={() => input.current?.click()}>Open a report …</Button>
      </header>
      <div className="min-h-0 flex-1 overflow-y-auto p-4">
        <div className="mx-auto max-w-7xl space-y-6">
          {shown && "error" in shown && <Problem error={shown.error} />}
          {shown && "report" in shown ? <Report {...shown.report} /> : <HowTo />}
        </div>
      </div>
    </div>
  );
}

function Report(report: CassetteReport) {
  switch (report.report) {
    case "replay": {
      const { file, steps, divergence, mode } = report;
      const note = mode === "real_tools" ? "real tools" : "recorded tools";
      return <DivergenceView name={file} steps={steps} divergence={divergence} note={note} />;
    }
    case "test":
      return (
        <>
          <p className="text-sm text-ink-soft">
            {report.cases.filter(({ failures }) => failures.length === 0).length} of {report.cases.length} cases passed.
          </p>
          {report.cases
            .toSorted((a, b) => Number(a.failures.length === 0) - Number(b.failures.length === 0))
            .map(({ name, steps, divergence, failures, duration_ms: ms }) => (
              <DivergenceView
                key={name}
                name={name}
                steps={steps}
                divergence={divergence}
                failures={failures}
                isFailed={failures.length > 0}
                note={`${steps} steps, ${ms} ms`}
              />
            ))}
        </>
      );
    case "comparison":
      return <ComparisonView {...report} />;
  }
}

const HowTo = () => (
  <Empty title="Drop a report here">
    <p>See where a replay differs, which test cases failed, or two runs side by side.</p>
    <code className="mt-3 inline-block rounded bg-raised px-2 py-1 text-left font-mono text-sm break-all">
      tandem cassettes replay FILE --json &gt; report.json
    </code>
  </Empty>
);
