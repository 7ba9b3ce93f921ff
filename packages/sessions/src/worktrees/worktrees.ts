import type {
  WorktreeApply,
  WorktreeApplyParams,
  WorktreeMerge,
  WorktreeMergeParams,
  WorktreePrune,
  WorktreeRemoveParams,
  WorktreeStatus,
  WorktreeView,
} from "@tandem/protocol";

/** Worktrees that sessions work in, on this machine. `by` is who asks for it. */
export interface Worktrees {
  /** Newest first. */
  list(): Promise<WorktreeView[]>;
  status(session: string): Promise<WorktreeStatus>;
  /** Everything that was done in it since it began, committed or not, as `git apply` takes it. */
  patch(session: string): Promise<string>;
  /** Its commits, onto the branch that it came from. Never over a conflict, or over somebody's uncommitted changes. */
  merge(session: string, params: WorktreeMergeParams, by: string): Promise<WorktreeMerge>;
  /** Its patch, onto the files of the folder that it came from; index and branches there stay as they are. */
  apply(session: string, params: WorktreeApplyParams, by: string): Promise<WorktreeApply>;
  /** Takes it away, and archives its session. Work that is nowhere else is a `conflict` that says what it is. */
  remove(session: string, params: WorktreeRemoveParams, by: string): Promise<void>;
  /** Removes those of archived and deleted sessions that have no work which is nowhere else. */
  prune(dryRun: boolean, by: string): Promise<WorktreePrune>;
}
