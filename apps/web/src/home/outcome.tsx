import { GitBranch } from "lucide-react";
import { LineCount } from "../diff/line-count.tsx";
import type { FeedSession } from "../live/session-feed.ts";

/** The session's result: its failure, or the last line of its answer. */
export function OutcomeLine({ session, lines = 1 }: { session: FeedSession; lines?: 1 | 2 }) {
  const { outcome, status } = session;
  if (!outcome) return null;
  const clamp = lines === 1 ? "truncate" : "line-clamp-2";
  if (outcome.error !== null && status !== "running")
    return (
      <p className={`${clamp} text-sm text-bad`} title={outcome.error}>
        {outcome.error}
      </p>
    );
  if (outcome.text === null) return null;
  return (
    <p className={`${clamp} text-sm text-ink-soft`} title={outcome.text}>
      {outcome.text}
    </p>
  );
}

const RESULTS: Readonly<Record<NonNullable<FeedSession["evaluation"]>, { label: string; look: string }>> = {
  pending: { label: "outcome pending", look: "text-ink-faint" },
  running: { label: "outcome in progress", look: "text-ink-soft" },
  evaluating: { label: "evaluating", look: "text-ink-soft" },
  satisfied: { label: "outcome satisfied", look: "text-good" },
  max_iterations_reached: { label: "outcome not satisfied", look: "text-bad" },
  failed: { label: "evaluation failed", look: "text-bad" },
  interrupted: { label: "outcome interrupted", look: "text-wait" },
};

function EvaluationBadge({ result }: { result: NonNullable<FeedSession["evaluation"]> }) {
  const { label, look } = RESULTS[result];
  return <span className={`shrink-0 ${look}`}>{label}</span>;
}

/** Changed files with added and removed lines, and the branch. */
export function OutcomeFacts({ session: { outcome, evaluation } }: { session: FeedSession }) {
  if (!outcome) return null;
  const { files, added, removed, branch } = outcome;
  return (
    <>
      {evaluation !== null && <EvaluationBadge result={evaluation} />}
      {files !== null && files > 0 && (
        <span className="flex shrink-0 items-baseline gap-1.5">
          {files === 1 ? "1 file" : `${files} files`}
          <LineCount added={added ?? 0} removed={removed ?? 0} />
        </span>
      )}
      {branch !== null && (
        <span className="flex min-w-0 items-baseline gap-1" title={`Branch ${branch}`}>
          <GitBranch aria-hidden className="size-3 shrink-0 translate-y-0.5" />
          <span className="sr-only">Branch </span>
          <span className="truncate">{branch}</span>
        </span>
      )}
    </>
  );
}
