import {
  agent,
  budgetGauge,
  environment,
  message,
  session,
  type Delta,
  type EventOf,
  type SessionEvent,
} from "@tandem/protocol";
import type { Page, PageQuery } from "@tandem/storage";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { readFrames } from "./read-frames.ts";
import { serverAudit } from "./server-audit.ts";
import type { Query, ServerConnection } from "./server-connection.ts";
import { serverHistory } from "./server-history.ts";
import { serverMcp } from "./server-mcp.ts";
import { serverWorktrees } from "./server-worktrees.ts";
import { serverApprovals } from "./server-approvals.ts";
import { serverRules } from "./server-rules.ts";
import { isDelta, type Happening, type SessionsClient } from "./sessions-client.ts";

/** Making a worktree ready takes as long as the config says; the server knows, and ends it. */
const SETUP_MS = 24 * 60 * 60 * 1_000;
/** How long a server that has gone away may take to come back, as after a restart. */
const RECONNECT_FOR_MS = 20_000;
const RECONNECT_EVERY_MS = 500;

const pageOf = <T extends z.ZodType>(item: T) =>
  z
    .object({ data: z.array(item), next_page: z.string().nullable(), prev_page: z.string().nullish() })
    .transform((page): Page<z.output<T>> => ({
      data: page.data,
      next: page.next_page,
      previous: page.prev_page ?? null,
    }));

// Our own server's words, which it checks itself; here it is enough that they are events at all.
const event = z
  .looseObject({ type: z.string(), id: z.string(), processed_at: z.string().nullable() })
  .transform((value) => value as unknown as SessionEvent);
const frame = z.looseObject({ type: z.string() }).transform((value) => value as unknown as SessionEvent | Delta);

const slashCommand = z.object({
  name: z.string(),
  description: z.string().nullable(),
  argument_hint: z.string().nullable(),
  model: z.string().nullable(),
  agent: z.string().nullable(),
  source: z.enum(["project", "user", "built_in"]),
  path: z.string().nullable(),
  runs_shell: z.boolean(),
});
const shellEvent = event.transform((value) => value as EventOf<"tandem.shell">);

const gauges = z.object({ data: z.array(budgetGauge) });
const halt = z.object({ at: z.string(), by: z.string(), reason: z.string().nullable() });
const stopped = z.object({ stopped: halt.nullable() });
const halting = z.object({ stopped: halt, interrupted: z.int() });

/** The engine of the server that is up. */
export function createServerClient(server: ServerConnection): SessionsClient {
  const at = (...steps: string[]) => `/v1/${steps.map(encodeURIComponent).join("/")}`;
  const page = (query: PageQuery): Query => ({
    limit: query.limit,
    page: query.cursor,
    include_archived: query.includeArchived,
    order: query.order,
  });
  return {
    url: server.url,
    holder: async () => undefined,
    agents: {
      create: (body) => server.call("POST", at("agents"), { schema: agent, body }),
      get: (id, version) => server.call("GET", at("agents", id), { schema: agent, query: { version } }),
      update: (id, body) => server.call("POST", at("agents", id), { schema: agent, body }),
      archive: (id) => server.call("POST", at("agents", id, "archive"), { schema: agent }),
      list: (query) => server.call("GET", at("agents"), { schema: pageOf(agent), query: page(query) }),
    },
    environments: {
      create: (body) => server.call("POST", at("environments"), { schema: environment, body }),
      list: (query) => server.call("GET", at("environments"), { schema: pageOf(environment), query: page(query) }),
    },
    sessions: {
      create: (body) => server.call("POST", at("sessions"), { schema: session, body, deadlineMs: SETUP_MS }),
      get: (id) => server.call("GET", at("sessions", id), { schema: session }),
      update: (id, body) => server.call("POST", at("sessions", id), { schema: session, body }),
      delete: async (id) => void (await server.call("DELETE", at("sessions", id), { schema: z.unknown() })),
      list: (query) =>
        server.call("GET", at("sessions"), {
          schema: pageOf(session),
          query: { ...page(query), agent_id: query.agentId, statuses: query.statuses },
        }),
      send: async (id, events) => {
        const schema = z.object({ data: z.array(event) });
        return (await server.call("POST", at("sessions", id, "events"), { schema, body: { events } })).data;
      },
      commands: async (id) =>
        (
          await server.call("GET", at("sessions", id, "commands"), {
            schema: z.object({ data: z.array(slashCommand) }),
          })
        ).data,
      shell: (id, command) =>
        server.call("POST", at("sessions", id, "shell"), { schema: shellEvent, body: { command } }),
    },
    budgets: {
      list: async () => (await server.call("GET", at("budgets"), { schema: gauges })).data,
      session: async (id) => (await server.call("GET", at("sessions", id, "budget"), { schema: gauges })).data,
      set: async (scope, of, limits) =>
        (await server.call("POST", at("budgets"), { schema: gauges, body: { scope, of, limits } })).data,
    },
    killSwitch: {
      state: async () => (await server.call("GET", at("stop"), { schema: stopped })).stopped ?? undefined,
      stop: async (_by, reason) => {
        const body = reason === null ? {} : { reason };
        const { stopped: halted, interrupted } = await server.call("POST", at("stop"), { schema: halting, body });
        return { ...halted, interrupted };
      },
      resume: async () => void (await server.call("POST", at("resume"), { schema: stopped })),
    },
    worktrees: serverWorktrees(server),
    history: serverHistory(server),
    audit: serverAudit(server),
    ...serverApprovals(server),
    rules: serverRules(server),
    mcpServers: serverMcp(server),
    async newest(id, { limit, types }) {
      const query = { order: "desc", limit, types };
      return (await server.call("GET", at("sessions", id, "events"), { schema: pageOf(event), query })).data;
    },
    async messages(id, limit) {
      const schema = z.object({ data: z.array(message), before: z.int().nullable() });
      const found = await server.call("GET", at("sessions", id, "messages"), { schema, query: { limit } });
      return { messages: found.data, more: found.before !== null };
    },
    async follow(id, signal) {
      const path = at("sessions", id, "events", "stream");
      const open = (lastEventId: string | undefined) =>
        server.stream(path, {
          query: { event_deltas: ["agent.message", "agent.thinking"], tandem: true },
          lastEventId,
          signal,
        });
      return happenings(await open(undefined), open, signal);
    },
    [Symbol.asyncDispose]: async () => server[Symbol.dispose](),
  };
}

type Stream = AsyncIterable<Uint8Array>;

/** A stream that breaks is opened again from where it broke. */
async function* happenings(
  first: Stream,
  open: (lastEventId: string | undefined) => Promise<Stream>,
  signal: AbortSignal,
): AsyncGenerator<Happening> {
  let lastEventId: string | undefined;
  for (let stream = first; ; stream = await reopen(() => open(lastEventId), signal)) {
    try {
      for await (const { id, data } of readFrames(stream)) {
        lastEventId = id ?? lastEventId;
        const value = frame.parse(JSON.parse(data));
        yield isDelta(value) ? { type: "delta", delta: value } : { type: "event", event: value };
      }
    } catch (error) {
      if (!signal.aborted && (error as NodeJS.ErrnoException).code !== "ECONNRESET") throw error;
    }
    if (signal.aborted) return;
  }
}

async function reopen(open: () => Promise<Stream>, signal: AbortSignal): Promise<Stream> {
  for (const deadline = Date.now() + RECONNECT_FOR_MS; ;) {
    try {
      return await open();
    } catch (error) {
      if (signal.aborted || Date.now() > deadline) throw error;
      await sleep(RECONNECT_EVERY_MS, undefined, { signal });
    }
  }
}
