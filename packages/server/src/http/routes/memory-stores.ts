import type { MemoryStoreRecord, StoreEntry } from "@tandem/context";
import { RequestError } from "@tandem/protocol";
import { z } from "zod";
import { contextOf } from "../context-of.ts";
import { pageThrough } from "../page-through.ts";
import { type Call, jsonRoute, type Route } from "../route.ts";
import { deletedOf, includeArchived, pageOf, pageQuery, time } from "../schemas/page.ts";

const MOST_BYTES = 102_400;
const MOST_PAIRS = 16;
/** Of a list with what is in them. */
export const MOST_FULL = 20;

const name = z
  .string()
  .min(1)
  .max(255)
  .regex(/^\P{Cc}*$/u, "expected no control characters");
const description = z.string().max(1_024);
const key = z.string().min(1).max(64);
const value = z.string().max(512);
const few = (pairs: Record<string, unknown>) => Object.keys(pairs).length <= MOST_PAIRS;
const metadata = z.record(key, value).refine(few, `expected at most ${MOST_PAIRS} pairs`);

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
  .refine((text) => Buffer.byteLength(text) <= MOST_BYTES, `expected at most ${MOST_BYTES} bytes`)
  .refine((text) => text.isWellFormed(), "expected whole characters");
const sha256 = z.string().regex(/^[0-9a-f]{64}$/, "expected 64 lowercase hexadecimal digits");
export const view = (usual: "basic" | "full") => ({ view: z.enum(["basic", "full"]).default(usual) });

/** Whoever writes, for the commit and for the version. */
export const writerOf = ({ token }: Pick<Call, "token">) => ({
  by: token.name,
  actor: { type: "token" as const, id: token.id },
});

export const storesOf = (call: Pick<Call, "context">) => contextOf(call).context.memoryStores;

const STORES = "/v1/memory_stores";
export const STORE = `${STORES}/:memory_store_id` as const;
const MEMORIES = `${STORE}/memories` as const;
const MEMORY = `${MEMORIES}/:memory_id` as const;

/** Memories as documents at paths. Whoever writes decides: each write is a commit in the name of the token. */
export const memoryStoreRoutes: Route[] = [
  jsonRoute({
    name: "memoryStores.create",
    method: "POST",
    path: STORES,
    scope: "run",
    at: "context",
    summary: "Create a memory store; what is in it is found by nobody else",
    body: z
      .strictObject({ name, description: description.default(""), metadata: metadata.default({}) })
      .meta({ id: "MemoryStoreCreate" }),
    response: store,
    handle: async (call) => storeView(await storesOf(call).create(call.body)),
  }),
  jsonRoute({
    name: "memoryStores.list",
    method: "GET",
    path: STORES,
    scope: "read",
    at: "context",
    summary: "List memory stores, newest first; the context's own is the last",
    query: z.strictObject({
      ...{ ...pageQuery, ...includeArchived },
      ...{ "created_at[gte]": time.optional(), "created_at[lte]": time.optional() },
    }),
    response: pageOf(store),
    handle: async (call) => {
      const { query } = call;
      const all = await storesOf(call).list({ includeArchived: query.include_archived === "true" });
      const [from, to] = [query["created_at[gte]"], query["created_at[lte]"]].map((at) =>
        at ? Date.parse(at) : Number.NaN,
      );
      const wanted = all.filter(({ createdAt }) => !(Date.parse(createdAt) < from!) && !(Date.parse(createdAt) > to!));
      return pageThrough(wanted.map(storeView), query);
    },
  }),
  jsonRoute({
    name: "memoryStores.retrieve",
    method: "GET",
    path: STORE,
    scope: "read",
    at: "context",
    summary: "Retrieve a memory store",
    response: store,
    handle: async (call) => storeView(await storesOf(call).get(call.params.memory_store_id)),
  }),
  jsonRoute({
    name: "memoryStores.update",
    method: "POST",
    path: STORE,
    scope: "run",
    at: "context",
    summary: "Change a memory store's name, description or metadata",
    body: z
      .strictObject({
        name: name.nullish(),
        description: description.nullish(),
        metadata: z.record(key, value.nullable()).nullish(),
      })
      .meta({ id: "MemoryStoreUpdate" }),
    response: store,
    handle: async (call) => {
      const { body, params } = call;
      const pairs = body.metadata && {
        ...(await storesOf(call).get(params.memory_store_id)).metadata,
        ...body.metadata,
      };
      const kept = pairs && Object.entries(pairs).filter((pair): pair is [string, string] => pair[1] !== null);
      if (kept && kept.length > MOST_PAIRS) {
        throw new RequestError("invalid_request", `metadata: expected at most ${MOST_PAIRS} pairs.`);
      }
      const change = {
        ...(body.name != null && { name: body.name }),
        ...(body.description != null && { description: body.description }),
        ...(kept && { metadata: Object.fromEntries(kept) }),
      };
      return storeView(await storesOf(call).update(params.memory_store_id, change));
    },
  }),
  jsonRoute({
    name: "memoryStores.archive",
    method: "POST",
    path: `${STORE}/archive`,
    scope: "run",
    at: "context",
    summary: "Archive a memory store: it can only be read and deleted from then on",
    response: store,
    handle: async (call) => storeView(await storesOf(call).archive(call.params.memory_store_id)),
  }),
  jsonRoute({
    name: "memoryStores.delete",
    method: "DELETE",
    path: STORE,
    scope: "run",
    at: "context",
    summary: "Delete a memory store with all that is in it",
    response: deletedOf("memory_store_deleted"),
    handle: async (call) => {
      const id = call.params.memory_store_id;
      await storesOf(call).delete(id, call.token.name);
      return { type: "memory_store_deleted" as const, id };
    },
  }),
  jsonRoute({
    name: "memoryStores.memories.create",
    method: "POST",
    path: MEMORIES,
    scope: "run",
    at: "context",
    summary: "Create a memory at a path",
    query: z.strictObject(view("basic")),
    body: z.strictObject({ path: z.string(), content: content.nullable() }).meta({ id: "MemoryCreate" }),
    response: memory,
    handle: async (call) => {
      const { path, content: text } = call.body;
      const id = call.params.memory_store_id;
      return memoryView(id, await storesOf(call).add(id, { path, content: text ?? "", ...writerOf(call) }), call.query);
    },
  }),
  jsonRoute({
    name: "memoryStores.memories.list",
    method: "GET",
    path: MEMORIES,
    scope: "read",
    at: "context",
    summary: "List memories by their paths; with depth 1, folders in the place of what is in them",
    query: z.strictObject({
      ...{ ...pageQuery, ...view("basic") },
      path_prefix: z
        .string()
        .regex(/^\/(.*\/)?$/s, "expected a path that begins and ends with /")
        .default("/"),
      depth: z.coerce.number().int().min(0).max(1).default(0),
    }),
    response: pageOf(z.union([memory, prefix])),
    handle: async (call) => {
      const { path_prefix: under, depth, limit, page } = call.query;
      const id = call.params.memory_store_id;
      const entries = (await storesOf(call).entries(id)).filter(({ path }) => path.startsWith(under));
      const items = new Map(entries.map((entry) => listed(entry, under, depth)));
      const most = call.query.view === "full" ? Math.min(limit, MOST_FULL) : limit;
      const shown = pageThrough(
        [...items].map(([path, entry]) => ({ id: path, entry })),
        { limit: most, ...(page && { page }) },
      );
      const data = shown.data.map(({ id: path, entry }) =>
        entry ? memoryView(id, entry, call.query) : { type: "memory_prefix" as const, path },
      );
      return { data, next_page: shown.next_page };
    },
  }),
  jsonRoute({
    name: "memoryStores.memories.retrieve",
    method: "GET",
    path: MEMORY,
    scope: "read",
    at: "context",
    summary: "Retrieve a memory",
    query: z.strictObject(view("full")),
    response: memory,
    handle: async (call) => {
      const { memory_store_id: id, memory_id } = call.params;
      return memoryView(id, await storesOf(call).entry(id, memory_id), call.query);
    },
  }),
  jsonRoute({
    name: "memoryStores.memories.update",
    method: "POST",
    path: MEMORY,
    scope: "run",
    at: "context",
    summary: "Change a memory's content or path, if it is still what the caller takes it for",
    query: z.strictObject(view("basic")),
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
    handle: async (call) => {
      const { memory_store_id: id, memory_id } = call.params;
      const { content: text, path, precondition } = call.body;
      const change = {
        ...(text != null && { content: text }),
        ...(path != null && { path }),
        ...(precondition?.content_sha256 !== undefined && { expected: precondition.content_sha256 }),
      };
      return memoryView(id, await storesOf(call).change(id, memory_id, { ...change, ...writerOf(call) }), call.query);
    },
  }),
  jsonRoute({
    name: "memoryStores.memories.delete",
    method: "DELETE",
    path: MEMORY,
    scope: "run",
    at: "context",
    summary: "Delete a memory, if it is still what the caller takes it for",
    query: z.strictObject({ expected_content_sha256: sha256.optional() }),
    response: deletedOf("memory_deleted"),
    handle: async (call) => {
      const { memory_store_id: id, memory_id } = call.params;
      const { expected_content_sha256: expected } = call.query;
      await storesOf(call).remove(id, memory_id, { ...writerOf(call), ...(expected && { expected }) });
      return { type: "memory_deleted" as const, id: memory_id };
    },
  }),
];

/** Itself, or the folder that it is in. */
function listed(entry: StoreEntry, under: string, depth: number): [path: string, entry: StoreEntry | undefined] {
  const end = depth === 0 ? -1 : entry.path.indexOf("/", under.length);
  return end === -1 ? [entry.path, entry] : [entry.path.slice(0, end + 1), undefined];
}

const storeView = ({ id, createdAt, updatedAt, archivedAt, ...said }: MemoryStoreRecord) => ({
  ...{ type: "memory_store" as const, id, ...said },
  ...{ created_at: createdAt, updated_at: updatedAt, archived_at: archivedAt },
});

const memoryView = (store_: string, entry: StoreEntry, { view: wanted }: { view: "basic" | "full" }) => ({
  ...{ type: "memory" as const, id: entry.id, memory_store_id: store_, path: entry.path },
  memory_version_id: entry.version,
  content: wanted === "full" ? entry.content : null,
  content_sha256: entry.sha256,
  content_size_bytes: Buffer.byteLength(entry.content),
  ...{ created_at: entry.createdAt, updated_at: entry.updatedAt },
});
