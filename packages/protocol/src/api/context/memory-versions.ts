import { z } from "zod";
import { memoryView } from "./memory-stores.ts";
import { pageOf, pageQuery, time } from "../page.ts";

export const VERSION_OPERATIONS = ["created", "modified", "deleted"] as const;

const actor = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("api_actor"), api_key_id: z.string() }),
    z.object({ type: z.literal("session_actor"), session_id: z.string() }),
  ])
  .meta({ id: "MemoryActor", description: "A token, by its id, or an agent in a session." });
export type MemoryActor = z.infer<typeof actor>;

const version = z
  .object({
    type: z.literal("memory_version"),
    id: z.string(),
    memory_id: z.string(),
    memory_store_id: z.string(),
    operation: z.enum(VERSION_OPERATIONS),
    path: z.string().nullable(),
    content: z.string().nullable(),
    content_sha256: z.string().nullable(),
    content_size_bytes: z.int().nullable(),
    created_at: z.string(),
    created_by: actor.nullable(),
    redacted_at: z.string().nullable(),
    redacted_by: actor.optional().meta({ description: "Absent until the version is redacted." }),
  })
  .meta({ id: "MemoryVersion" });

export const memoryVersionsApi = {
  "memoryStores.memoryVersions.list": {
    query: z.strictObject({
      ...pageQuery,
      ...memoryView("basic"),
      memory_id: z.string().min(1).optional(),
      operation: z.enum(VERSION_OPERATIONS).optional(),
      session_id: z.string().min(1).optional(),
      api_key_id: z.string().min(1).optional(),
      service_account_id: z.string().min(1).optional(),
      "created_at[gte]": time.optional(),
      "created_at[lte]": time.optional(),
    }),
    response: pageOf(version),
  },
  "memoryStores.memoryVersions.retrieve": { query: z.strictObject(memoryView("full")), response: version },
  "memoryStores.memoryVersions.redact": { response: version },
};
