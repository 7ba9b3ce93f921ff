import { reportRows } from "./report-rows.ts";

/** The result of a job as a list of named numbers. */
export function JobReport({ result }: { result: Record<string, unknown> }) {
  const rows = reportRows(result);
  if (rows.length === 0) return null;
  return (
    <section aria-labelledby="report" className="mt-5">
      <h3 id="report" className="mb-1.5 text-sm font-medium text-ink-soft">
        Report
      </h3>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1 text-sm">
        {rows.map(([name, words]) => (
          <div key={name} className="contents">
            <dt className="text-ink-faint">{name}</dt>
            <dd className="wrap-anywhere">{words}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
