import type { MemoryActor, MemoryVersion, VersionActor } from "@tandem/protocol";
import { jsonRoute, type Route } from "../../route.ts";
import { MAX_FULL_PAGE, storesOf, writerOf } from "./memory-store-routes.ts";

/** Earlier versions of memories, and their authors. */
export const memoryVersionRoutes: Route[] = [
  jsonRoute("memoryStores.memoryVersions.list", {
    scope: "read",
    at: "context",
    summary:
      "List the changes of a store's memories, newest first; edits that people made in the folder have no author",
    handle: async (call) => {
      const { query, params } = call;
      const limit = query.view === "full" ? Math.min(query.limit, MAX_FULL_PAGE) : query.limit;
      const [from, to] = [query["created_at[gte]"], query["created_at[lte]"]].map((at) => at && Date.parse(at));
      const isBy = (type: VersionActor["type"], id: string | undefined, by: VersionActor | null) =>
        id === undefined || (by?.type === type && by.id === id);
      const found = await storesOf(call).versions(params.memory_store_id, {
        limit: limit + 1,
        ...(query.page !== undefined && { after: query.page }),
        wants: ({ memory, operation, createdAt, createdBy }) =>
          (query.memory_id ?? memory) === memory &&
          (query.operation ?? operation) === operation &&
          isBy("session", query.session_id, createdBy) &&
          isBy("token", query.api_key_id, createdBy) &&
          // Tandem has no service accounts.
          query.service_account_id === undefined &&
          !(from && Date.parse(createdAt) < from) &&
          !(to && Date.parse(createdAt) > to),
      });
      const data = found.slice(0, limit);
      return {
        data: data.map((each) => versionView(each, query)),
        next_page: found.length > limit ? data.at(-1)!.id : null,
      };
    },
  }),
  jsonRoute("memoryStores.memoryVersions.retrieve", {
    scope: "read",
    at: "context",
    summary: "Retrieve a version of a memory",
    handle: async (call) => {
      const { memory_store_id, memory_version_id } = call.params;
      return versionView(await storesOf(call).version(memory_store_id, memory_version_id), call.query);
    },
  }),
  jsonRoute("memoryStores.memoryVersions.redact", {
    scope: "run",
    at: "context",
    summary: "Delete the text of an earlier version; for the context's own store, the folder's git history keeps it",
    handle: async (call) => {
      const { memory_store_id, memory_version_id } = call.params;
      const redacted = await storesOf(call).redact(memory_store_id, memory_version_id, writerOf(call).actor);
      return versionView(redacted, { view: "full" });
    },
  }),
];

function versionView(
  { id, memory, store, operation, path, content, sha256, createdAt, createdBy, redactedAt, redactedBy }: MemoryVersion,
  { view: wanted }: { view: "basic" | "full" },
) {
  return {
    type: "memory_version" as const,
    id,
    memory_id: memory,
    memory_store_id: store,
    operation,
    path,
    content: wanted === "full" ? content : null,
    content_sha256: sha256,
    content_size_bytes: content === null ? null : Buffer.byteLength(content),
    created_at: createdAt,
    created_by: createdBy && actorOf(createdBy),
    redacted_at: redactedAt,
    // The official client's type has no null here.
    ...(redactedBy && { redacted_by: actorOf(redactedBy) }),
  };
}

const actorOf = (by: VersionActor): MemoryActor =>
  by.type === "token" ? { type: "api_actor", api_key_id: by.id } : { type: "session_actor", session_id: by.id };
