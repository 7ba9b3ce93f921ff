import { type Config, configSchema, type EventOf, newId, type SessionEvent, type SessionId } from "@tandem/protocol";
import type { Script } from "@tandem/rehearsal";
import type { JobRow, SessionRow, Store } from "@tandem/storage";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openContext } from "../../open-context.ts";
import { openScratch } from "../../testing/open-scratch.ts";
import { runOneJob } from "../../testing/run-one-job.ts";
import type { RehearsedBackend } from "../../scan/testing/rehearsed-backend.ts";
import { Memories } from "../memories.ts";
import { memoryKind } from "../memory-kind.ts";
import type { MemoryParts } from "../memory-parts.ts";

type Said =
  | { user: string; attached?: string }
  | { agent: string }
  | { call: string; input?: Record<string, unknown>; result: string };

export type MemoryStage = Awaited<ReturnType<typeof openMemoryStage>>;

/** A real context, store with sessions, and `memory` jobs. Without `shared`, the stage has its own store. */
export async function openMemoryStage(backend?: RehearsedBackend, accept: object = {}, shared?: Store) {
  await using scratch = new AsyncDisposableStack();
  const { home, store } = await openScratch(scratch, shared);
  const rules = configSchema.parse({ context: { accept } }).context.accept;
  const place = { path: join(home, "context"), git: "own" as const, scratch: join(home, "scratch") };
  const context = await openContext({ ...place, store, accept: rules });
  const memories = new Memories(context.folder);
  const say = async (session: SessionId, ...said: Said[]): Promise<SessionEvent[]> => {
    const lease = await store.leases.take(session, "a test", 60_000);
    const events = said.flatMap(eventsOf);
    await store.events.append(
      lease!,
      events.map((event) => ({ thread: null, event })),
    );
    await store.leases.release(lease!);
    return events;
  };
  const parts = (settings: Partial<Config["memory"]> = {}): MemoryParts => ({
    context,
    store,
    settings: { ...configSchema.parse({}).memory, ...settings },
  });
  const owned = scratch.move();
  return {
    store,
    context,
    memories,
    say,
    parts,
    /** Statements in order of creation. */
    statements: async (): Promise<string[]> => (await memories.own()).map(({ text }) => text),
    session: async (...said: Said[]): Promise<{ id: SessionId; events: SessionEvent[] }> => {
      const id = newId("session");
      await store.sessions.create(rowOf(id), []);
      return { id, events: await say(id, ...said) };
    },
    archive: async (session: SessionId): Promise<void> => {
      const lease = await store.leases.take(session, "a test", 60_000);
      const event = { type: "session.status_terminated" as const, ...stamp() };
      const change = { status: "terminated" as const, archivedAt: new Date().toISOString() };
      await store.events.append(lease!, [{ thread: null, event }], { session: change });
      await store.leases.release(lease!);
    },
    /** Runs a job with the given model script. */
    run: async (
      params: object,
      {
        script = [],
        capture = "on",
        signal,
      }: { script?: Script; capture?: Config["memory"]["capture"]; signal?: AbortSignal } = {},
    ): Promise<JobRow & { requests: number }> => {
      backend?.play(script, { limits: { patience: "1s" } });
      const kind = memoryKind(parts({ capture }));
      const row = await runOneJob({
        store,
        space: context.id,
        kind: "memory",
        params,
        holder: "a test",
        llm: backend?.source,
        modelOf: () => backend?.model ?? "none",
        signal,
        body: (run) => kind.work(run, params),
      });
      return { ...row, requests: backend?.rehearsal.modelRequests.length ?? 0 };
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

const stamp = () => ({ id: newId("event"), processed_at: new Date().toISOString() });

function eventsOf(said: Said): SessionEvent[] {
  if ("user" in said) {
    const document = { type: "text" as const, media_type: "text/plain" as const, data: said.attached ?? "" };
    return [
      {
        type: "user.message" as const,
        ...stamp(),
        content: [
          { type: "text", text: said.user },
          ...(said.attached === undefined ? [] : [{ type: "document" as const, source: document }]),
        ],
      },
    ];
  }
  if ("agent" in said) return [{ type: "agent.message", content: [{ type: "text", text: said.agent }], ...stamp() }];
  const { call: name, input = {}, result } = said;
  const use: EventOf<"agent.tool_use"> = {
    type: "agent.tool_use",
    name,
    input,
    tandem: { tool_use_id: "toolu_1" },
    ...stamp(),
  };
  const content = [{ type: "text" as const, text: result }];
  return [use, { type: "agent.tool_result", tool_use_id: use.id, content, ...stamp() }];
}

function rowOf(id: SessionId): SessionRow {
  const at = new Date().toISOString();
  const agent = {
    type: "agent" as const,
    id: "agent_1",
    version: 1,
    name: "analyst",
    description: null,
    system: null,
    model: { id: "claude-sonnet-5-5" },
    tools: [],
    mcp_servers: [],
    skills: [],
    multiagent: null,
    execution_identity: { type: "service_account" as const },
  };
  const usage = {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    active_seconds: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    list_cost: { amount: "0", currency: "USD" as const },
  };
  return {
    id,
    status: "idle",
    agent,
    environmentId: "env_local",
    title: null,
    metadata: {},
    resources: [],
    budget: null,
    usage,
    activeMs: 0,
    waitingFor: [],
    folder: tmpdir(),
    place: null,
    claudeSession: undefined,
    primaryThread: newId("thread"),
    createdAt: at,
    updatedAt: at,
    archivedAt: null,
  };
}
