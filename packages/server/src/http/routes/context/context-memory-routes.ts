import type { MemoryFile } from "@tandem/context";
import type { ContextMemory, Evidence } from "@tandem/protocol";
import { LOCAL_TOKEN } from "../../access/ensure-token.ts";
import { contextOf, loadContext } from "../../context-of.ts";
import { pageThrough } from "../../request/page-through.ts";
import { jsonRoute, type Route } from "../../route.ts";

/** The context's memories, with their provenance. Memory stores offer the same to programs. */
export const contextMemoryRoutes: Route[] = [
  jsonRoute("context.memories.list", {
    scope: "read",
    at: "context",
    summary: "List memories, newest first, with the evidence of each",
    handle: async (call) => {
      const { session } = call.query;
      const { folder, search } = contextOf(call).context;
      const library = await loadContext();
      const all = await new library.Memories(folder).own();
      const wanted = all
        .filter(({ sources }) => session === undefined || sources.some((item) => isOf(item, session)))
        .toReversed();
      const { data, next_page } = pageThrough(wanted, call.query);
      return { data: data.map((each) => describe(each, all, search.now(), library)), next_page };
    },
  }),
  jsonRoute("context.memories.create", {
    scope: "run",
    at: "context",
    summary: "Save a memory at once; a repeated memory is not stored twice",
    // A model may compare it with others, and waits for quotas.
    longRunning: true,
    handle: async (call) => {
      const { context, openModel } = contextOf(call);
      const library = await loadContext();
      const { expires_at, check, ...words } = call.body;
      const said = await library.remember(
        context,
        {
          ...words,
          expiresAt: expires_at,
          by: speaker(call.token.name, context.user),
          ...(context.user !== undefined && { user: context.user }),
        },
        { ...(check && { openModel }), signal: call.signal },
      );
      const all = await new library.Memories(context.folder).own();
      return {
        memory: describe(said.memory, all, context.search.now(), library),
        proposal: said.proposal?.id ?? null,
        unchecked: said.unchecked ?? null,
      };
    },
  }),
  jsonRoute("context.memories.keep", {
    scope: "run",
    at: "context",
    summary: "Set when a memory expires; null: never",
    handle: async (call) => {
      const { expires_at } = call.body;
      const by = call.token.name;
      const { context } = contextOf(call);
      const { keep } = await loadContext();
      const proposal = await keep(context, call.params.memory_id, { by, expiresAt: expires_at });
      return { proposal: proposal?.id ?? null };
    },
  }),
  jsonRoute("context.memories.forget", {
    scope: "run",
    at: "context",
    summary: "Forget a memory, by a proposal that can be undone",
    handle: async (call) => {
      const { context } = contextOf(call);
      const { forget } = await loadContext();
      const { id } = await forget(context, call.params.memory_id, call.token.name);
      return { proposal: id };
    },
  }),
];

const isOf = (item: Evidence, session: string): boolean => item.type === "event" && item.session === session;

function describe(
  file: MemoryFile,
  all: readonly MemoryFile[],
  now: Date,
  { contradictionsOf, isExpired }: Awaited<ReturnType<typeof loadContext>>,
): ContextMemory {
  const { id, text, scope, tags, sources } = file;
  return {
    id,
    text,
    scope,
    tags: [...tags],
    sources: [...sources],
    agent: file.agent ?? null,
    user: file.user ?? null,
    created_at: file.createdAt,
    updated_at: file.updatedAt ?? null,
    expires_at: file.expiresAt,
    is_expired: isExpired(file, now),
    contradicts: contradictionsOf(file, all).map((other) => other.id),
  };
}

/** The machine's own token is the user's. */
const speaker = (token: string, user: string | undefined): string => (token === LOCAL_TOKEN ? (user ?? token) : token);
