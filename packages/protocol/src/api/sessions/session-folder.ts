import { z } from "zod";
import { count, listOf } from "../page.ts";

/** `path` is relative to the folder, with `/`; `size` is in bytes for files, otherwise 0. */
const entry = z
  .object({ name: z.string(), path: z.string(), type: z.enum(["file", "folder", "link"]), size: z.number() })
  .meta({ id: "FolderEntry" });
export type FolderEntry = z.infer<typeof entry>;

const hit = z
  .object({ path: z.string(), line: z.int().optional(), text: z.string().optional() })
  .meta({ id: "SearchHit" });

const content = z
  .union([
    z.object({ path: z.string(), size: z.number(), truncated: z.boolean(), text: z.string() }),
    z.object({ path: z.string(), size: z.number(), truncated: z.boolean(), base64: z.string() }),
  ])
  .meta({ id: "FolderFile" });
export type FolderFile = z.infer<typeof content>;

const sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const path = z.string().min(1).max(4_096);

const change = z
  .object({
    type: z.literal("session_file_change"),
    action: z.enum(["written", "moved", "deleted", "folder"]),
    path: z.string(),
    to: z.string().optional(),
    sha256: z.string().optional(),
    /** The checkpoint before the change; null if there is none, so that a rewind cannot undo it. */
    checkpoint_id: z.string().nullable(),
  })
  .meta({ id: "FileChange" });
export type FileChange = z.infer<typeof change>;

const writeParams = z.strictObject({
  path,
  text: z.string().optional(),
  base64: z.base64().optional(),
  /** The current content's; null if there must be no file. */
  sha256: sha256.nullable().optional(),
});

export const sessionFolderApi = {
  "sessions.files.list": { query: z.strictObject({ path: z.string().default("") }), response: listOf(entry) },
  "sessions.files.search": {
    query: z.strictObject({
      name: z.string().min(1).optional(),
      text: z.string().min(1).optional(),
      limit: count().min(1).max(1_000).default(100),
    }),
    response: listOf(hit),
  },
  "sessions.files.write": { body: writeParams, response: change },
  "sessions.files.move": { body: z.strictObject({ from: path, to: path }), response: change },
  "sessions.files.makeFolder": { body: z.strictObject({ path }), response: change },
  "sessions.files.delete": {
    query: z.strictObject({ path, recursive: z.enum(["true", "false"]).default("false"), sha256: sha256.optional() }),
    response: change,
  },
  "sessions.files.read": { query: z.strictObject({ path: z.string().min(1) }), response: content },
};
