import {
  type FullEntry,
  MEMORY_STORE_PAIRS,
  type MemoryStoreRecord,
  RequestError,
  type StoreEntry,
} from "@tandem/protocol";
import { pageThrough } from "../../request/page-through.ts";
import { type Call, jsonRoute, type Route } from "../../route.ts";

/** The page limit of a list with contents. */
export const MAX_FULL_PAGE = 20;

/** The author of the commit and the version. */
export const writerOf = ({ token }: Pick<Call, "token">) => ({
  by: token.name,
  actor: { type: "token" as const, id: token.id },
});

export const storesOf = ({ engine }: Pick<Call, "engine">) => engine.memoryStores;

/**
 * Memories as documents at paths. A process with the project's context answers, because the context's own store is in its
 * folder; the others are in the database.
 */
export const memoryStoreRoutes: Route[] = [
  jsonRoute("memoryStores.create", {
    scope: "run",
    at: "context",
    summary: "Create a memory store that only its program can use",
    handle: async (call) => storeView(await storesOf(call).create(call.body)),
  }),
  jsonRoute("memoryStores.list", {
    scope: "read",
    at: "context",
    summary: "List memory stores, newest first; the context's own is the last",
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
  jsonRoute("memoryStores.retrieve", {
    scope: "read",
    at: "context",
    summary: "Retrieve a memory store",
    handle: async (call) => storeView(await storesOf(call).get(call.params.memory_store_id)),
  }),
  jsonRoute("memoryStores.update", {
    scope: "run",
    at: "context",
    summary: "Change a memory store's name, description or metadata",
    handle: async (call) => {
      const { body, params } = call;
      const pairs = body.metadata && {
        ...(await storesOf(call).get(params.memory_store_id)).metadata,
        ...body.metadata,
      };
      const kept = pairs && Object.entries(pairs).filter((pair): pair is [string, string] => pair[1] !== null);
      if (kept && kept.length > MEMORY_STORE_PAIRS) {
        throw new RequestError("invalid_request", `metadata: expected at most ${MEMORY_STORE_PAIRS} pairs.`);
      }
      const change = {
        ...(body.name != null && { name: body.name }),
        ...(body.description != null && { description: body.description }),
        ...(kept && { metadata: Object.fromEntries(kept) }),
      };
      return storeView(await storesOf(call).update(params.memory_store_id, change));
    },
  }),
  jsonRoute("memoryStores.archive", {
    scope: "run",
    at: "context",
    summary: "Archive a memory store: it can only be read and deleted from then on",
    handle: async (call) => storeView(await storesOf(call).archive(call.params.memory_store_id)),
  }),
  jsonRoute("memoryStores.delete", {
    scope: "run",
    at: "context",
    summary: "Delete a memory store with all of its memories",
    handle: async (call) => {
      const id = call.params.memory_store_id;
      await storesOf(call).delete(id);
      return { type: "memory_store_deleted" as const, id };
    },
  }),
  jsonRoute("memoryStores.memories.create", {
    scope: "run",
    at: "context",
    summary: "Create a memory at a path",
    handle: async (call) => {
      const { path, content: text } = call.body;
      const id = call.params.memory_store_id;
      return memoryView(id, await storesOf(call).add(id, { path, content: text ?? "", ...writerOf(call) }), call.query);
    },
  }),
  jsonRoute("memoryStores.memories.list", {
    scope: "read",
    at: "context",
    summary: "List memories by path; with depth 1, folders instead of their contents",
    handle: async (call) => {
      const { path_prefix: under, depth, limit, page } = call.query;
      const id = call.params.memory_store_id;
      const entries = (await storesOf(call).entries(id)).filter(({ path }) => path.startsWith(under));
      const items = new Map(entries.map((entry) => listed(entry, under, depth)));
      const most = call.query.view === "full" ? Math.min(limit, MAX_FULL_PAGE) : limit;
      const shown = pageThrough(
        [...items].map(([path, entry]) => ({ id: path, entry })),
        { limit: most, ...(page && { page }) },
      );
      const memories = shown.data.flatMap(({ entry }) => entry ?? []);
      const texts = call.query.view === "full" ? await storesOf(call).withContent(id, memories) : memories;
      const views = new Map(texts.map((entry) => [entry.path, memoryView(id, entry, call.query)]));
      const data = shown.data.map(({ id: path }) => views.get(path) ?? { type: "memory_prefix" as const, path });
      return { data, next_page: shown.next_page };
    },
  }),
  jsonRoute("memoryStores.memories.retrieve", {
    scope: "read",
    at: "context",
    summary: "Retrieve a memory",
    handle: async (call) => {
      const { memory_store_id: id, memory_id } = call.params;
      return memoryView(id, await storesOf(call).entry(id, memory_id), call.query);
    },
  }),
  jsonRoute("memoryStores.memories.update", {
    scope: "run",
    at: "context",
    summary: "Change a memory's content or path, if it still has the version that the caller names",
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
  jsonRoute("memoryStores.memories.delete", {
    scope: "run",
    at: "context",
    summary: "Delete a memory, if it still has the version that the caller names",
    handle: async (call) => {
      const { memory_store_id: id, memory_id } = call.params;
      const { expected_content_sha256: expected } = call.query;
      await storesOf(call).remove(id, memory_id, { ...writerOf(call), ...(expected && { expected }) });
      return { type: "memory_deleted" as const, id: memory_id };
    },
  }),
];

/** The entry itself, or the folder that contains it at this depth. */
function listed(entry: StoreEntry, under: string, depth: number): [path: string, entry: StoreEntry | undefined] {
  const end = depth === 0 ? -1 : entry.path.indexOf("/", under.length);
  return end === -1 ? [entry.path, entry] : [entry.path.slice(0, end + 1), undefined];
}

const storeView = ({ id, createdAt, updatedAt, archivedAt, ...said }: MemoryStoreRecord) => ({
  type: "memory_store" as const,
  id,
  ...said,
  created_at: createdAt,
  updated_at: updatedAt,
  archived_at: archivedAt,
});

const memoryView = (store_: string, entry: StoreEntry | FullEntry, { view: wanted }: { view: "basic" | "full" }) => ({
  type: "memory" as const,
  id: entry.id,
  memory_store_id: store_,
  path: entry.path,
  memory_version_id: entry.version,
  content: wanted === "full" && "content" in entry ? entry.content : null,
  content_sha256: entry.sha256,
  content_size_bytes: entry.bytes,
  created_at: entry.createdAt,
  updated_at: entry.updatedAt,
});
