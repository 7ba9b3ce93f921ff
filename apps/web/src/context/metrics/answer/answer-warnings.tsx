import { TriangleAlert } from "lucide-react";

/** Warnings of the compiler about the numbers. */
export function AnswerWarnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <ul aria-label="Warnings" className="space-y-1 rounded-md bg-wait-soft px-3 py-2 text-sm">
      {warnings.map((warning) => (
        <li key={warning} className="flex gap-2">
          <TriangleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-wait" />
          <span className="min-w-0 wrap-anywhere">{warning}</span>
        </li>
      ))}
    </ul>
  );
}
