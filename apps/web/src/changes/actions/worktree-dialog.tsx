import type { WorktreeApply, WorktreeMerge, WorktreeStatus } from "@tandem/protocol";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { Problem } from "../../ui/problem.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { useChange } from "../../api/use-change.ts";
import { TextField } from "../../ui/field.tsx";

export type WorktreeAction = "merge" | "apply";

/** Merges or exports the changes of a worktree. A dry run comes first and leaves no trace. */
export function WorktreeDialog({
  session,
  worktree,
  way,
  onClose,
}: {
  session: string;
  worktree: WorktreeStatus;
  way: WorktreeAction;
  onClose: () => void;
}) {
  const [into, setInto] = useState(worktree.from ?? "");
  const path = `/v1/sessions/${session}/worktree/${way}`;
  const body = way === "merge" && into.trim() !== "" ? { into: into.trim() } : {};
  const params = { session_id: session };
  const bring = (more: { dry_run?: boolean }): Promise<WorktreeMerge | WorktreeApply> =>
    way === "merge"
      ? api.call("sessions.worktree.merge", { params, body: { ...body, ...more } })
      : api.call("sessions.worktree.apply", { params, body: more });
  const trial = useQuery({
    queryKey: [path, body],
    queryFn: () => bring({ dry_run: true }),
    retry: false,
    staleTime: 0,
    gcTime: 0,
  });
  const act = useChange([`/v1/sessions/${session}/worktree`], () => bring({}), onClose);
  const isMerge = way === "merge";
  return (
    <FormDialog
      onClose={onClose}
      title={isMerge ? "Merge" : "Apply as a patch"}
      description={
        isMerge
          ? `Merges the commits of ${worktree.branch} into another branch. Conflicts are reported before any file changes.`
          : `Applies all changes, committed or not, to the files of ${worktree.repository}. Nothing is staged and no branch moves.`
      }
      verb={isMerge ? "Merge" : "Apply"}
      isReady={trial.isSuccess}
      action={act}
    >
      {isMerge && (
        <TextField
          label="Target branch"
          value={into}
          placeholder="the original branch"
          onChange={setInto}
          inputClassName="font-mono text-sm"
        />
      )}
      {trial.isLoading && <p className="text-sm text-ink-faint">Checking …</p>}
      <Problem error={trial.error} onRetry={() => void trial.refetch()} />
      {trial.data && <DryRunResult outcome={trial.data} />}
    </FormDialog>
  );
}

function DryRunResult({ outcome }: { outcome: WorktreeMerge | WorktreeApply }) {
  const paths = "kind" in outcome ? outcome.left : outcome.files;
  const words = (): string => {
    if (!("kind" in outcome)) return `Changes ${count(outcome.files.length, "file")} in ${outcome.folder}.`;
    if (outcome.kind === "nothing") return `${outcome.into} already has all commits.`;
    const how = outcome.kind === "merge" ? "with a merge commit" : "as a fast-forward";
    return `Merges ${count(outcome.commits, "commit")} into ${outcome.into}, ${how}.`;
  };
  return (
    <div className="text-sm">
      <p>{words()}</p>
      {paths.length > 0 && (
        <>
          {"kind" in outcome && <p className="mt-2 text-wait">Not committed, so not included:</p>}
          <ul className="mt-1 max-h-60 overflow-y-auto font-mono text-xs text-ink-soft">
            {paths.map((path) => (
              <li key={path} className="truncate">
                {path}
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

const count = (value: number, noun: string): string => `${value} ${noun}${value === 1 ? "" : "s"}`;
