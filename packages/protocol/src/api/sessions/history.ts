import { z } from "zod";
import { session } from "./sessions.ts";
import { count } from "../page.ts";

// What became of a session's files and conversation, and going back or another way.

const FILE_STATUSES = ["added", "modified", "deleted", "renamed", "type_changed"] as const;

const fileDiff = z
  .object({
    path: z.string(),
    /** Where it was before, if it has moved. */
    old_path: z.string().optional(),
    status: z.enum(FILE_STATUSES),
    binary: z.boolean(),
    /** Lines; null of a binary file. */
    added: z.int().nullable(),
    removed: z.int().nullable(),
    /** As git writes it; absent where it was not asked for, or did not fit any more. */
    patch: z.string().optional(),
  })
  .meta({ id: "FileDiff" });

const treeDiff = z.object({
  files: z.array(fileDiff),
  added: z.int(),
  removed: z.int(),
  /** Whether some files, or patches of some, were left out. */
  truncated: z.boolean(),
});

export const sessionDiff = treeDiff
  .extend({
    /** Checkpoints, or `now`. */
    from: z.string(),
    to: z.string(),
    /** Files that were left out because of their size; how they differ is not known. */
    skipped: z.array(z.string()),
  })
  .meta({ id: "SessionDiff" });
export type SessionDiff = z.infer<typeof sessionDiff>;

export const sessionCheckpoints = z
  .object({
    turns: z.array(
      z.object({
        /** From 1; what was rewound keeps its number. */
        turn: z.int(),
        message_id: z.string(),
        at: z.string().nullable(),
        text: z.string(),
        rewound: z.boolean(),
        files_changed: z.int().nullable(),
      }),
    ),
    checkpoints: z.array(
      z.object({
        checkpoint_id: z.string(),
        /** `rewind`: as files were before a rewind; `rewound`: as it left them. */
        when: z.enum(["before", "after", "rewind", "rewound"]),
        message_id: z.string().nullable(),
        turn: z.int().nullable(),
        at: z.string().nullable(),
        files_changed: z.int(),
        skipped: z.int(),
        /** Whether it is still there to go back to. */
        kept: z.boolean(),
      }),
    ),
  })
  .meta({ id: "SessionCheckpoints" });
export type SessionCheckpoints = z.infer<typeof sessionCheckpoints>;

const REWIND_SCOPES = ["files", "conversation", "both"] as const;

export const rewindParams = z
  .strictObject({
    /** The message that began a turn; or the turn's number; without either, the last turn. */
    to_message_id: z.string().optional(),
    turn: z.int().positive().optional(),
    scope: z.enum(REWIND_SCOPES).optional(),
    /** Only say what would change. */
    dry_run: z.boolean().optional(),
    /** Over what others have changed as well. */
    force: z.boolean().optional(),
  })
  .meta({ id: "Rewind" });
export type RewindParams = z.infer<typeof rewindParams>;

export const rewindUndoParams = z.strictObject({ force: z.boolean().optional() }).meta({ id: "RewindUndo" });
export type RewindUndoParams = z.infer<typeof rewindUndoParams>;

export const rewindOutcome = z
  .object({
    dry_run: z.boolean(),
    scope: z.enum(REWIND_SCOPES),
    /** Where the session stands then: before this message. Null where a rewind was undone. */
    to_message_id: z.string().nullable(),
    turn: z.int().nullable(),
    /** What changes in the files; null where they are not touched. */
    diff: treeDiff.nullable(),
    /** What somebody else has changed as well. */
    foreign: z.array(z.object({ path: z.string(), reason: z.string() })),
    /** How many turns the agent forgets. */
    turns: z.int(),
  })
  .meta({ id: "RewindOutcome" });
export type RewindOutcome = z.infer<typeof rewindOutcome>;

export const forkParams = z
  .strictObject({
    /** The message before which it begins, or the number of the turn; without either, the end. */
    before_message_id: z.string().optional(),
    turn: z.int().positive().optional(),
    /** Where it works; without it, where the session works that it comes from. */
    environment_id: z.string().optional(),
    /** In a git worktree of its own, with the files as they were then. */
    worktree: z.boolean().optional(),
    title: z.string().max(512).nullish(),
  })
  .meta({ id: "Fork" });
export type ForkParams = z.infer<typeof forkParams>;

export const historyApi = {
  "sessions.checkpoints": {
    response: sessionCheckpoints,
  },
  "sessions.diff": {
    query: z.strictObject({
      from: z.string().min(1).optional(),
      to: z.string().min(1).optional(),
      turn: count().min(1).optional(),
      /** Whether patches come along, or only counts. */
      patch: z.enum(["true", "false"]).default("true"),
    }),
    response: sessionDiff,
  },
  "sessions.rewind": {
    body: rewindParams,
    response: rewindOutcome,
  },
  "sessions.undoRewind": {
    body: rewindUndoParams,
    response: rewindOutcome,
  },
  "sessions.fork": {
    body: forkParams,
    response: session,
  },
  "sessions.compact": {
    response: z.object({ type: z.literal("session_compacting"), id: z.string() }),
  },
};
