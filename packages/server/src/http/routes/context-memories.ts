import {
  contradictionsOf,
  evidence,
  forget,
  isExpired,
  keep,
  Memories,
  MEMORY_SCOPES,
  type MemoryFile,
  remember,
} from "@tandem/context";
import { z } from "zod";
import { contextOf } from "../context-of.ts";
import { pageThrough } from "../page-through.ts";
import { jsonRoute, type Route } from "../route.ts";
import { pageOf, pageQuery, time } from "../schemas/page.ts";

const memory = z
  .object({
    id: z.string(),
    text: z.string(),
    scope: z.enum(MEMORY_SCOPES),
    agent: z.string().nullable(),
    user: z.string().nullable(),
    tags: z.array(z.string()),
    created_at: z.string(),
    updated_at: z.string().nullable(),
    expires_at: z.string().nullable().meta({ description: "Null: it holds until somebody changes it." }),
    is_expired: z.boolean(),
    sources: z.array(evidence),
    contradicts: z
      .array(z.string())
      .meta({ description: "Ids of memories that say otherwise, whichever file says so." }),
  })
  .meta({ id: "ContextMemory", description: "A statement that is remembered, and what it rests on." });

const decided = z
  .object({
    proposal: z.string().nullable().meta({ description: "By which it can be undone; null if nothing changed." }),
  })
  .meta({ id: "MemoryDecision" });

const expiresAt = time.nullable();
const MEMORY = "/v1/context/memories/:memory_id" as const;

/** What is remembered in the context, with its provenance. Memory stores have the same for programs. */
export const contextMemoryRoutes: Route[] = [
  jsonRoute({
    name: "context.memories.list",
    method: "GET",
    path: "/v1/context/memories",
    scope: "read",
    at: "context",
    extension: true,
    summary: "List what is remembered, the newest first, with what each memory rests on",
    query: z.strictObject({
      ...pageQuery,
      session: z.string().min(1).max(100).optional().meta({ description: "Only what rests on this session." }),
    }),
    response: pageOf(memory),
    handle: async (call) => {
      const { session } = call.query;
      const all = await new Memories(contextOf(call).context.folder).own();
      const wanted = all
        .filter(({ sources }) => session === undefined || sources.some((item) => isOf(item, session)))
        .toReversed();
      const { data, next_page } = pageThrough(wanted, call.query);
      return { data: data.map((each) => describe(each, all)), next_page };
    },
  }),
  jsonRoute({
    name: "context.memories.create",
    method: "POST",
    path: "/v1/context/memories",
    scope: "run",
    at: "context",
    extension: true,
    summary: "Remember something in one's own words, at once; the same said again is not stored twice",
    body: z
      .strictObject({
        text: z.string().min(1).max(20_000),
        scope: z.enum(MEMORY_SCOPES).default("project"),
        agent: z.string().min(1).max(200).optional(),
        tags: z.array(z.string().min(1).max(100)).max(20).default([]),
        expires_at: expiresAt.default(null),
      })
      .meta({ id: "RememberThis" }),
    response: decided
      .extend({
        memory,
        unchecked: z.string().nullable().meta({ description: "Why nobody has looked for contradictions." }),
      })
      .meta({ id: "Remembered" }),
    handle: async (call) => {
      const { context, openModel } = contextOf(call);
      const { expires_at, ...words } = call.body;
      await using models = new AsyncDisposableStack();
      const llm = async () => {
        const model = await openModel?.();
        if (model) models.defer(() => model.close());
        return model;
      };
      const said = await remember(
        context,
        {
          ...words,
          expiresAt: expires_at,
          by: call.token.name,
          ...(context.user !== undefined && { user: context.user }),
        },
        { llm, signal: call.signal },
      );
      const all = await new Memories(context.folder).own();
      return {
        memory: describe(said.memory, all),
        proposal: said.proposal?.id ?? null,
        unchecked: said.unchecked ?? null,
      };
    },
  }),
  jsonRoute({
    name: "context.memories.keep",
    method: "POST",
    path: `${MEMORY}/keep`,
    scope: "run",
    at: "context",
    extension: true,
    summary: "Say how long a memory holds: until then, or, with null, for good",
    body: z.strictObject({ expires_at: expiresAt }).meta({ id: "KeepMemory" }),
    response: decided,
    handle: async (call) => {
      const { expires_at } = call.body;
      const by = call.token.name;
      const proposal = await keep(contextOf(call).context, call.params.memory_id, { by, expiresAt: expires_at });
      return { proposal: proposal?.id ?? null };
    },
  }),
  jsonRoute({
    name: "context.memories.forget",
    method: "DELETE",
    path: MEMORY,
    scope: "run",
    at: "context",
    extension: true,
    summary: "Forget a memory; the proposal that it is done by can be undone",
    response: decided,
    handle: async (call) => {
      const { id } = await forget(contextOf(call).context, call.params.memory_id, call.token.name);
      return { proposal: id };
    },
  }),
];

const isOf = (item: z.output<typeof evidence>, session: string): boolean =>
  item.type === "event" && item.session === session;

function describe(file: MemoryFile, all: readonly MemoryFile[]): z.output<typeof memory> {
  const { id, text, scope, tags, sources } = file;
  return {
    ...{ id, text, scope, tags: [...tags], sources: [...sources] },
    agent: file.agent ?? null,
    user: file.user ?? null,
    created_at: file.createdAt,
    updated_at: file.updatedAt ?? null,
    expires_at: file.expiresAt,
    is_expired: isExpired(file, new Date()),
    contradicts: contradictionsOf(file, all).map((other) => other.id),
  };
}
