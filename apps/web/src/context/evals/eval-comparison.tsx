import type { EvalComparison } from "@tandem/protocol";

/** The questions that a change fixes and breaks. */
export function ComparedQuestions({ comparison }: { comparison: EvalComparison }) {
  const { fixes, breaks, changed } = comparison;
  const rows = [
    ...breaks.map((change) => ({ ...change, kind: "breaks" as const })),
    ...fixes.map((change) => ({ ...change, kind: "fixes" as const })),
    ...changed.map((change) => ({ ...change, kind: "changes" as const })),
  ];
  if (rows.length === 0) return null;
  return (
    <ul className="mt-2 space-y-1 text-sm">
      {rows.map(({ file, question, arm, before, after, reason, kind }) => (
        <li key={`${file} ${question} ${arm} ${kind} ${reason}`} className="flex flex-wrap gap-x-2">
          <span className={COLOURS[kind]}>{kind}</span>
          <span className="font-mono text-xs leading-5">{question}</span>
          <span className="text-ink-faint">
            {arm === null ? "" : `${arm}: `}
            {before} → {after}
          </span>
          {reason !== null && <span className="min-w-0 basis-full text-xs text-ink-soft wrap-anywhere">{reason}</span>}
        </li>
      ))}
    </ul>
  );
}

const COLOURS = { breaks: "text-bad", fixes: "text-good", changes: "text-ink-soft" };

export const comparisonText = ({ fixes, breaks }: EvalComparison): string =>
  `Fixes ${fixes.length}, breaks ${breaks.length}`;
