import { z } from "zod";
import { count, listOf } from "../page.ts";

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
  "sessions.files.read": { query: z.strictObject({ path: z.string().min(1) }), response: content },
};
