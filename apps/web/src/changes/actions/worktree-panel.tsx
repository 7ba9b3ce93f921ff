import type { WorktreeStatus } from "@tandem/protocol";
import { useMutation } from "@tanstack/react-query";
import { Download, GitBranch, GitMerge, Undo2 } from "lucide-react";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { saveDownload } from "../../api/save-download.ts";
import { Button } from "../../ui/button.tsx";
import { Problem } from "../../ui/problem.tsx";
import { useWorktree } from "../changes-api.ts";
import { type WorktreeAction, WorktreeDialog } from "./worktree-dialog.tsx";
import { useChange } from "../../api/use-change.ts";

/** The session's own worktree: its changes that exist nowhere else, and the ways to bring them back. */
export function WorktreePanel({ session }: { session: string }) {
  const { data: worktree, error, refetch } = useWorktree(session);
  const [way, setWay] = useState<WorktreeAction>();
  const save = useMutation({
    mutationFn: async () =>
      saveDownload(await api.download("sessions.worktree.patch", { params: { session_id: session } })),
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} className="mx-4 mt-2" />;
  if (!worktree) return null;
  return (
    <section
      aria-label="Worktree"
      className="flex flex-wrap items-center gap-x-3 gap-y-1.5 border-b border-line bg-surface px-4 py-2 text-sm"
    >
      <p className="flex min-w-0 items-center gap-1.5">
        <GitBranch aria-hidden className="size-4 shrink-0 text-ink-faint" />
        <span className="truncate font-mono text-xs">{worktree.branch}</span>
        {worktree.from !== null && <span className="shrink-0 text-ink-faint">from {worktree.from}</span>}
      </p>
      <p className="text-ink-soft">{unsaved(worktree)}</p>
      <div className="ml-auto flex flex-wrap items-center gap-1.5">
        <Button
          look="quiet"
          size="icon"
          aria-label="Download patch"
          title="Download patch"
          disabled={save.isPending}
          onClick={() => save.mutate()}
        >
          <Download aria-hidden className="size-4" />
        </Button>
        <Button size="small" onClick={() => setWay("apply")}>
          Apply as a patch …
        </Button>
        <Button
          size="small"
          disabled={worktree.commits === 0 || (worktree.merged !== null && worktree.files.length === 0)}
          onClick={() => setWay("merge")}
        >
          <GitMerge aria-hidden className="size-4" /> Merge …
        </Button>
        {worktree.merged && (
          <UndoButton session={session} way="merge" label={`Undo the merge into ${worktree.merged.into}`} />
        )}
        {worktree.applied && <UndoButton session={session} way="apply" label="Undo the patch" />}
      </div>
      <Problem error={save.error} className="w-full" />
      {way && <WorktreeDialog session={session} worktree={worktree} way={way} onClose={() => setWay(undefined)} />}
    </section>
  );
}

function unsaved({ commits, unsaved: { uncommitted }, files, merged }: WorktreeStatus): string {
  if (merged && files.length === 0 && uncommitted.length === 0) return `merged into ${merged.into}`;
  const words = [
    commits === 0 ? "no commits" : commits === 1 ? "1 commit" : `${commits} commits`,
    files.length === 1 ? "1 file" : `${files.length} files`,
    ...(uncommitted.length > 0 ? [`${uncommitted.length} uncommitted`] : []),
  ];
  return words.join(", ");
}

function UndoButton({ session, way, label }: { session: string; way: WorktreeAction; label: string }) {
  const undo = useChange([`/v1/sessions/${session}/worktree`], () =>
    api.call(way === "merge" ? "sessions.worktree.merge" : "sessions.worktree.apply", {
      params: { session_id: session },
      body: { undo: true },
    }),
  );
  return (
    <>
      <Button size="small" look="quiet" disabled={undo.isPending} onClick={() => undo.mutate()}>
        <Undo2 aria-hidden className="size-4" /> {label}
      </Button>
      <Problem error={undo.error} />
    </>
  );
}
