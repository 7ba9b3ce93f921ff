import { Bot } from "lucide-react";
import { CommentSummary } from "../../diff/comment-summary.tsx";
import { type LineComment, promptOf } from "../../diff/line-comments.ts";
import type { useComments } from "../../diff/use-comments.ts";
import { openNewSession, startDraft } from "../../state/new-session.ts";
import { Button } from "../../ui/button.tsx";
import type { Change, Hunk, ProposalSummary, useVerdict } from "./proposal-api.ts";

/**
 * Sends line comments to an agent to rewrite the proposal, or rejects the commented hunks with the comments as the
 * reason.
 */
export function ProposalComments({
  proposal,
  changes,
  comments: { comments, clear },
  verdict,
}: {
  proposal: ProposalSummary;
  changes: readonly Change[];
  comments: ReturnType<typeof useComments>;
  verdict: ReturnType<typeof useVerdict>;
}) {
  if (comments.length === 0) return null;
  const prompt = promptOf(comments, `the proposal “${proposal.title}” (${proposal.id})`);
  const commented = hunksOf(comments, changes);
  const ask = (): void => {
    // Append to an existing draft instead of overwriting it.
    const draft = startDraft.current.trim();
    startDraft.set(draft === "" || draft === prompt ? prompt : `${draft}\n\n${prompt}`);
    openNewSession();
  };
  const reject = async (): Promise<void> => {
    for (const [hunk, words] of commented) {
      await verdict.mutateAsync({ action: "reject", hunks: [hunk.id], reason: words.join("\n\n") });
    }
    clear();
  };
  return (
    <CommentSummary
      count={comments.length}
      prompt={prompt}
      className="sticky bottom-3 mt-4 rounded-lg border border-line-strong bg-surface px-3 py-2 shadow-float"
    >
      <span className="ml-auto flex flex-wrap gap-2">
        {commented.size > 0 && (
          <Button size="small" disabled={verdict.isPending} onClick={() => void reject().catch(() => undefined)}>
            Reject {commented.size === 1 ? "this change" : `these ${commented.size} changes`} with the comments
          </Button>
        )}
        <Button look="primary" size="small" icon={<Bot aria-hidden className="size-4" />} onClick={ask}>
          Ask an agent …
        </Button>
      </span>
    </CommentSummary>
  );
}

/** The open hunks that have comments, with those comments. */
function hunksOf(comments: readonly LineComment[], changes: readonly Change[]): Map<Hunk, string[]> {
  const commented = new Map<Hunk, string[]>();
  for (const { path, line, side, words } of comments) {
    const hunks = changes.find((change) => change.path === path)?.hunks ?? [];
    const hunk = hunks.find(({ old_start, old_lines, new_start, new_lines }) => {
      const [from, count] = side === "old" ? [old_start, old_lines.length] : [new_start, new_lines.length];
      return line >= from && line < from + count;
    });
    if (hunk?.state === "open") commented.set(hunk, [...(commented.get(hunk) ?? []), words]);
  }
  return commented;
}
