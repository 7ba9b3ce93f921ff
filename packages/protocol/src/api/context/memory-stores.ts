import { z } from "zod";
import { count, deletedOf, includeArchived, pageOf, pageQuery, time } from "../page.ts";

const MAX_BYTES = 102_400;

export const MEMORY_STORE_PAIRS = 16;

const name = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\P{Cc}*$/u, "expected no control characters");

const description = z.string().max(1_024);

const key = z.string().min(1).max(64);

const value = z.string().max(512);

const few = (pairs: Record<string, unknown>) => Object.keys(pairs).length <= MEMORY_STORE_PAIRS;

const metadata = z.record(key, value).refine(few, `expected at most ${MEMORY_STORE_PAIRS} pairs`);

const store = z
  .object({
    type: z.literal("memory_store"),
    id: z.string(),
    name: z.string(),
    description: z.string(),
    metadata: z.record(z.string(), z.string()),
    created_at: z.string(),
    updated_at: z.string(),
    archived_at: z.string().nullable(),
  })
  .meta({ id: "MemoryStore" });

const memory = z
  .object({
    type: z.literal("memory"),
    id: z.string(),
    memory_store_id: z.string(),
    memory_version_id: z.string(),
    path: z.string(),
    content: z.string().nullable(),
    content_sha256: z.string(),
    content_size_bytes: z.int(),
    created_at: z.string(),
    updated_at: z.string(),
  })
  .meta({ id: "Memory" });

const prefix = z.object({ type: z.literal("memory_prefix"), path: z.string() }).meta({ id: "MemoryPrefix" });

const content = z
  .string()
  .refine((text) => new TextEncoder().encode(text).length <= MAX_BYTES, `expected at most ${MAX_BYTES} bytes`)
  .refine((text) => text.isWellFormed(), "expected whole characters");

const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "expected 64 lowercase hexadecimal digits");

export const memoryView = (usual: "basic" | "full") => ({ view: z.enum(["basic", "full"]).default(usual) });

export const memoryStoresApi = {
  "memoryStores.create": {
    body: z
      .strictObject({ name, description: description.default(""), metadata: metadata.default({}) })
      .meta({ id: "MemoryStoreCreate" }),
    response: store,
  },
  "memoryStores.list": {
    query: z.strictObject({
      ...pageQuery,
      ...includeArchived,
      "created_at[gte]": time.optional(),
      "created_at[lte]": time.optional(),
    }),
    response: pageOf(store),
  },
  "memoryStores.retrieve": { response: store },
  "memoryStores.update": {
    body: z
      .strictObject({
        name: name.nullish(),
        description: description.nullish(),
        metadata: z.record(key, value.nullable()).nullish(),
      })
      .meta({ id: "MemoryStoreUpdate" }),
    response: store,
  },
  "memoryStores.archive": { response: store },
  "memoryStores.delete": { response: deletedOf("memory_store_deleted") },
  "memoryStores.memories.create": {
    query: z.strictObject(memoryView("basic")),
    body: z.strictObject({ path: z.string(), content: content.nullable() }).meta({ id: "MemoryCreate" }),
    response: memory,
  },
  "memoryStores.memories.list": {
    query: z.strictObject({
      ...pageQuery,
      ...memoryView("basic"),
      path_prefix: z
        .string()
        .regex(/^\/(.*\/)?$/s, "expected a path that begins and ends with /")
        .default("/"),
      depth: count().min(0).max(1).default(0),
    }),
    response: pageOf(z.union([memory, prefix])),
  },
  "memoryStores.memories.retrieve": { query: z.strictObject(memoryView("full")), response: memory },
  "memoryStores.memories.update": {
    query: z.strictObject(memoryView("basic")),
    body: z
      .strictObject({
        content: content.nullish(),
        path: z.string().nullish(),
        precondition: z
          .strictObject({ type: z.literal("content_sha256"), content_sha256: sha256.optional() })
          .nullish(),
      })
      .meta({ id: "MemoryUpdate" }),
    response: memory,
  },
  "memoryStores.memories.delete": {
    query: z.strictObject({ expected_content_sha256: sha256.optional() }),
    response: deletedOf("memory_deleted"),
  },
};
