import type { SqlAnswer } from "@tandem/protocol";
import { count } from "../../text/format.ts";

/** The rows that the database expected to read, with its plan folded. */
export function QueryEstimate({ estimate, isOpen }: { estimate: SqlAnswer["estimate"]; isOpen: boolean }) {
  if (!estimate) return null;
  const { rows, bytes, plan } = estimate;
  const figures = [
    ...(rows === undefined ? [] : [`about ${count(rows)} rows`]),
    ...(bytes === undefined ? [] : [`about ${count(bytes)} bytes`]),
  ];
  return (
    <details key={String(isOpen)} open={isOpen} className="text-sm">
      <summary className="w-fit cursor-pointer rounded text-ink-soft hover:text-ink">
        {figures.length === 0 ? "Query plan" : `The database expects to read ${figures.join(", ")}`}
      </summary>
      <pre
        tabIndex={0}
        aria-label="Query plan"
        className="mt-1 max-h-60 overflow-auto rounded-md border border-line bg-raised px-3 py-2 font-mono text-xs"
      >
        {plan}
      </pre>
    </details>
  );
}
