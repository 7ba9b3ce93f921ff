import { z } from "zod";
import { session } from "./sessions.ts";
import { count } from "../page.ts";
import { cassette } from "../../cassettes/cassette.ts";

// The history of a session's files and conversation: diffs, rewind and fork.

const FILE_STATUSES = ["added", "modified", "deleted", "renamed", "type_changed"] as const;

const fileDiff = z
  .object({
    path: z.string(),
    /** The previous path of a moved file. */
    old_path: z.string().optional(),
    status: z.enum(FILE_STATUSES),
    binary: z.boolean(),
    /** Lines; null for a binary file. */
    added: z.int().nullable(),
    removed: z.int().nullable(),
    /** In git's format; absent if not requested or too large. */
    patch: z.string().optional(),
  })
  .meta({ id: "FileDiff" });
export type FileDiff = z.infer<typeof fileDiff>;

const treeDiff = z.object({
  files: z.array(fileDiff),
  added: z.int(),
  removed: z.int(),
  /** True if files or patches were left out. */
  truncated: z.boolean(),
});
export type TreeDiff = z.infer<typeof treeDiff>;

const sessionDiff = treeDiff
  .extend({
    /** A checkpoint's id, or `now`. */
    from: z.string(),
    to: z.string(),
    /** Files that were skipped because of their size; their changes are unknown. */
    skipped: z.array(z.string()),
  })
  .meta({ id: "SessionDiff" });
export type SessionDiff = z.infer<typeof sessionDiff>;

const sessionCheckpoints = z
  .object({
    turns: z.array(
      z.object({
        /** Starts at 1; rewound turns keep their number. */
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
        /** `rewind`: the files before a rewind; `rewound`: the files after it. */
        when: z.enum(["before", "after", "rewind", "rewound"]),
        message_id: z.string().nullable(),
        turn: z.int().nullable(),
        at: z.string().nullable(),
        files_changed: z.int(),
        skipped: z.int(),
        /** False if the checkpoint was pruned. */
        kept: z.boolean(),
      }),
    ),
  })
  .meta({ id: "SessionCheckpoints" });
export type SessionCheckpoints = z.infer<typeof sessionCheckpoints>;

const REWIND_SCOPES = ["files", "conversation", "both"] as const;

const rewindParams = z
  .strictObject({
    /** Target: the message that began a turn, or the turn's number. The default is the last turn. */
    to_message_id: z.string().optional(),
    turn: z.int().positive().optional(),
    scope: z.enum(REWIND_SCOPES).optional(),
    /** Report the changes without making them. */
    dry_run: z.boolean().optional(),
    /** Also overwrite changes that other programs made. */
    force: z.boolean().optional(),
  })
  .meta({ id: "Rewind" });
export type RewindParams = z.infer<typeof rewindParams>;

const rewindUndoParams = z.strictObject({ force: z.boolean().optional() }).meta({ id: "RewindUndo" });
export type RewindUndoParams = z.infer<typeof rewindUndoParams>;

const rewindOutcome = z
  .object({
    dry_run: z.boolean(),
    scope: z.enum(REWIND_SCOPES),
    /** The session then continues before this message; null if a rewind was undone. */
    to_message_id: z.string().nullable(),
    turn: z.int().nullable(),
    /** Changes of the files; null if files are not rewound. */
    diff: treeDiff.nullable(),
    /** Files that another program changed as well. */
    foreign: z.array(z.object({ path: z.string(), reason: z.string() })),
    /** The number of turns removed from the agent's context. */
    turns: z.int(),
  })
  .meta({ id: "RewindOutcome" });
export type RewindOutcome = z.infer<typeof rewindOutcome>;

const forkParams = z
  .strictObject({
    /** Fork before this message or turn; the default is the end. */
    before_message_id: z.string().optional(),
    turn: z.int().positive().optional(),
    /** The fork's environment; the default is that of the source session. */
    environment_id: z.string().optional(),
    /** Use a new git worktree with the files of that time. */
    worktree: z.boolean().optional(),
    title: z.string().max(512).nullish(),
  })
  .meta({ id: "Fork" });
export type ForkParams = z.infer<typeof forkParams>;

export const historyApi = {
  "sessions.checkpoints": { response: sessionCheckpoints },
  "sessions.diff": {
    query: z.strictObject({
      from: z.string().min(1).optional(),
      to: z.string().min(1).optional(),
      turn: count().min(1).optional(),
      /** Include patches, or only counts. */
      patch: z.enum(["true", "false"]).default("true"),
    }),
    response: sessionDiff,
  },
  "sessions.cassette": { response: cassette },
  "sessions.rewind": { body: rewindParams, response: rewindOutcome },
  "sessions.undoRewind": { body: rewindUndoParams, response: rewindOutcome },
  "sessions.fork": { body: forkParams, response: session },
  "sessions.compact": { response: z.object({ type: z.literal("session_compacting"), id: z.string() }) },
};
