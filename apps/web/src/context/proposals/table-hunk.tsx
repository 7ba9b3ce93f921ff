import type { FactGroup, TableFact } from "./fact-groups.ts";

/** A change of a table or of metrics: each column or join with its old and new facts, and figures of the data folded. */
export function TableHunk({ groups }: { groups: readonly FactGroup[] }) {
  return (
    <div className="space-y-2.5 px-3 py-1.5">
      {groups.map(({ kind, subject, facts, figures }) => (
        <div key={`${kind} ${subject}`}>
          <p className="text-sm">
            <span className="text-ink-faint">
              {kind !== undefined ? kind : subject === "" ? "The table" : subject.includes(" → ") ? "Join" : "Column"}
            </span>{" "}
            {subject !== "" && <span className="font-mono text-xs font-medium wrap-anywhere">{subject}</span>}
          </p>
          {facts.length > 0 && <Facts facts={facts} />}
          {figures.length > 0 && (
            <details className="mt-0.5 text-sm">
              <summary className="w-fit cursor-pointer rounded text-xs text-ink-faint hover:text-ink">
                Figures of the data
              </summary>
              <Facts facts={figures} />
            </details>
          )}
        </div>
      ))}
    </div>
  );
}

function Facts({ facts }: { facts: readonly TableFact[] }) {
  return (
    <dl className="mt-0.5 grid gap-x-4 gap-y-0.5 text-sm sm:grid-cols-[minmax(7rem,auto)_minmax(0,1fr)]">
      {facts.map(({ field, before, after }) => (
        <div key={field} className="contents">
          <dt className="text-xs leading-5 text-ink-faint">{field}</dt>
          <dd className="min-w-0 wrap-anywhere max-sm:mb-1">
            {before !== undefined && (
              <del className={after === undefined ? "rounded bg-removed px-1" : "block rounded bg-removed px-1"}>
                {before}
              </del>
            )}
            {after !== undefined && (
              <ins className={`rounded bg-added px-1 no-underline ${before === undefined ? "" : "block mt-0.5"}`}>
                {after}
              </ins>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
