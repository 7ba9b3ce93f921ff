import { z } from "zod";
import { listOf } from "../page.ts";

// The git worktree of a session, and actions on its changes.

export const worktreeMerge = z
  .object({
    into: z.string(),
    kind: z.enum(["fast-forward", "merge", "nothing"]),
    /** The branch's commit before and after. */
    before: z.string(),
    after: z.string(),
    commits: z.int(),
    /** Uncommitted paths, which stay in the worktree. */
    left: z.array(z.string()),
    dry_run: z.boolean(),
  })
  .meta({ id: "WorktreeMerge" });
export type WorktreeMerge = z.infer<typeof worktreeMerge>;

const worktreeMergeParams = z
  .strictObject({
    into: z.string().min(1).max(250).optional().describe("A branch; without it, the one that the worktree came from."),
    message: z.string().min(1).max(2_000).optional().describe("Of the merge commit, where one is needed."),
    dry_run: z.boolean().default(false),
    undo: z.boolean().default(false).describe("Moves the branch back to its commit before the last merge."),
  })
  .meta({ id: "WorktreeMergeParams" });
export type WorktreeMergeParams = z.infer<typeof worktreeMergeParams>;

const worktreeApply = z
  .object({ folder: z.string(), files: z.array(z.string()), dry_run: z.boolean(), undone: z.boolean() })
  .meta({ id: "WorktreeApply" });
export type WorktreeApply = z.infer<typeof worktreeApply>;

const worktreeApplyParams = z
  .strictObject({
    dry_run: z.boolean().default(false),
    undo: z.boolean().default(false).describe("Reverts the last merge or patch."),
  })
  .meta({ id: "WorktreeApplyParams" });
export type WorktreeApplyParams = z.infer<typeof worktreeApplyParams>;

const worktreeRemoveParams = z
  .strictObject({
    keep_branch: z
      .boolean()
      .default(false)
      .describe("Commits and stashes that are nowhere else stay in the repository."),
    discard: z.boolean().default(false).describe("Whether uncommitted changes may be discarded."),
  })
  .meta({ id: "WorktreeRemoveParams" });
export type WorktreeRemoveParams = z.infer<typeof worktreeRemoveParams>;

export const worktree = z
  .object({
    type: z.literal("worktree"),
    session_id: z.string(),
    /** `gone` if the session was deleted. */
    session: z.enum(["idle", "running", "rescheduling", "terminated", "archived", "gone"]),
    title: z.string().nullable(),
    folder: z.string(),
    repository: z.string(),
    branch: z.string(),
    /** The branch it was created from; null for a tag, a commit or no branch. */
    from: z.string().nullable(),
    /** The commit it was created from. */
    commit: z.string(),
    ports: z.object({ from: z.int(), count: z.int() }),
    created_at: z.string(),
  })
  .meta({ id: "Worktree" });
export type WorktreeView = z.infer<typeof worktree>;

const worktreeStatus = worktree
  .extend({
    /** Commits since then. */
    commits: z.int(),
    /** Work that exists only here: uncommitted paths, commits on no other branch, stashes made on its branch. */
    unsaved: z.object({ uncommitted: z.array(z.string()), commits: z.int(), stashes: z.int() }),
    files: z.array(z.object({ path: z.string(), added: z.int(), removed: z.int() })),
    /** The setup command and the end of its output. */
    setup: z.object({ command: z.string(), output: z.string() }).nullable(),
    copied: z.int(),
    skipped: z.array(z.object({ path: z.string(), why: z.string() })),
    merged: worktreeMerge.nullable(),
    applied: z.object({ folder: z.string(), files: z.array(z.string()) }).nullable(),
  })
  .meta({ id: "WorktreeStatus" });
export type WorktreeStatus = z.infer<typeof worktreeStatus>;

const worktreePrune = z
  .object({ removed: z.array(z.string()), kept: z.array(z.object({ session_id: z.string(), why: z.string() })) })
  .meta({ id: "WorktreePrune" });
export type WorktreePrune = z.infer<typeof worktreePrune>;

export const worktreesApi = {
  "worktrees.list": { response: listOf(worktree) },
  "worktrees.prune": {
    body: z.strictObject({ dry_run: z.boolean().default(false) }).meta({ id: "WorktreePruneParams" }),
    response: worktreePrune,
  },
  "sessions.worktree.retrieve": { response: worktreeStatus },
  "sessions.worktree.patch": { download: true as const },
  "sessions.worktree.merge": { body: worktreeMergeParams, response: worktreeMerge },
  "sessions.worktree.apply": { body: worktreeApplyParams, response: worktreeApply },
  "sessions.worktree.remove": {
    body: worktreeRemoveParams,
    response: z.object({ type: z.literal("worktree_removed"), session_id: z.string() }),
  },
};
