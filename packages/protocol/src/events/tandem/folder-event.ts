import { z } from "zod";
import { described, event, eventId, openObject, sessionId } from "../event-schema.ts";

// The session's folder and its history.

const requester = described("The name of the token that requested it.", z.string().optional());

export const tandemFolderEvents = {
  ...event("tandem.checkpoint", "A checkpoint of the working folder at a turn boundary.", {
    checkpoint_id: z.string(),
    when: z.enum(["before", "after", "rewind"]),
    message_id: described("The message that started the turn.", eventId.nullable()),
    files_changed: described("The number of files that differ from the previous checkpoint.", z.int()),
    skipped: described("The number of files skipped because of their size.", z.int()),
    total: described(
      "After a turn that changed files: everything since the session's first checkpoint.",
      openObject({ files: z.int(), added: z.int(), removed: z.int() }).optional(),
    ),
    branch: described(
      "After a turn: the checked-out branch, if the folder is a git repository.",
      z.string().optional(),
    ),
  }),
  ...event(
    "tandem.rewound",
    "Files, conversation or both were rewound to a checkpoint. Later events stay in the log.",
    {
      scope: z.enum(["files", "conversation", "both"]),
      to_message_id: described(
        "The session now continues before this message; null if a rewind was undone.",
        eventId.nullable(),
      ),
      checkpoint_id: described(
        "The checkpoint of the files after the rewind; null if no files changed.",
        z.string().nullable(),
      ),
      undo_checkpoint_id: described(
        "The checkpoint of the files before the rewind; it can undo the rewind.",
        z.string().nullable(),
      ),
      files: z.int(),
      conversation: described(
        "Claude Code's conversation ids before and after: a rewound conversation continues under a new id.",
        openObject({ from: z.string(), to: z.string() }).optional(),
      ),
      undoes: described("The rewind that this one undoes.", eventId.optional()),
      by: requester,
    },
  ),
  ...event("tandem.forked", "The session was forked from another one, before that message.", {
    from_session_id: sessionId,
    before_message_id: eventId.nullable(),
    by: requester,
  }),
  ...event("tandem.push", "A bot has pushed the session's files to a branch.", {
    remote: z.string(),
    branch: z.string(),
    commit: z.string(),
    pull_request: openObject({ number: z.int(), url: z.string() }).nullable(),
    bot: z.string(),
    requester: z.string().nullable(),
  }),
  ...event("tandem.resource", "A resource of the session changed.", {
    action: z.enum(["added", "updated", "removed", "cloned"]),
    resource_id: z.string(),
    resource_type: z.enum(["file", "github_repository", "memory_store"]),
    mount_path: z.string(),
    kept: described("Why its file stayed when it was removed.", z.string().optional()),
    by: z.string().optional(),
  }),
  ...event("tandem.file", "A client changed a file of the session's folder.", {
    action: z.enum(["written", "moved", "deleted", "folder"]),
    path: z.string(),
    to: described("Where it was moved.", z.string().optional()),
    sha256: described("The hash of the new content.", z.string().optional()),
    by: z.string(),
  }),
};
