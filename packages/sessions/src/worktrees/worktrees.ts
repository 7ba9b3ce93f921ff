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

/** Worktrees of sessions on this machine. `by` is the caller's name. */
export interface Worktrees {
  /** Newest first. */
  list(): Promise<WorktreeView[]>;
  status(session: string): Promise<WorktreeStatus>;
  /** All its changes since it was created, committed or not, in the format of `git apply`. */
  patch(session: string): Promise<string>;
  /** Merges its commits into its source branch. Never over a conflict or uncommitted changes. */
  merge(session: string, params: WorktreeMergeParams, by: string): Promise<WorktreeMerge>;
  /** Applies its patch to the files of its source folder; index and branches there stay unchanged. */
  apply(session: string, params: WorktreeApplyParams, by: string): Promise<WorktreeApply>;
  /** Removes it and archives its session. Fails with `conflict` and lists the work that exists nowhere else. */
  remove(session: string, params: WorktreeRemoveParams, by: string): Promise<void>;
  /** Removes worktrees of archived and deleted sessions that have no unsaved work. */
  prune(dryRun: boolean, by: string): Promise<WorktreePrune>;
}
