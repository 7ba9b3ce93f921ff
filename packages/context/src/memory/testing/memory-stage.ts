import { type Config, configSchema, type EventOf, newId, type SessionEvent, type SessionId } from "@tandem/protocol";
import type { Script } from "@tandem/rehearsal";
import { type JobRow, openStore, type SessionRow, type Store } from "@tandem/storage";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Context, openContext } from "../../open-context.ts";
import type { LlmSource } from "../../runs/metered-llm.ts";
import { runOneJob } from "../../testing/run-one-job.ts";
import type { RehearsedBackend } from "../../scan/testing/rehearsed-backend.ts";
import { Memories } from "../memories.ts";
import { memoryKind } from "../memory-kind.ts";
import type { MemoryParts } from "../memory-parts.ts";

type Said =
  | { user: string; attached?: string }
  | { agent: string }
  | { call: string; input?: Record<string, unknown>; result: string };

/** A real context, store with sessions, and `memory` jobs. */
export class MemoryStage implements AsyncDisposable {
  readonly store: Store;
  readonly context: Context;
  readonly #home: string;
  readonly #isShared: boolean;
  readonly #backend: RehearsedBackend | undefined;

  private constructor(
    parts: { store: Store; context: Context; home: string; isShared: boolean },
    backend: RehearsedBackend | undefined,
  ) {
    this.store = parts.store;
    this.#isShared = parts.isShared;
    this.context = parts.context;
    this.#home = parts.home;
    this.#backend = backend;
  }

  /** Without `shared`, the stage has its own store. */
  static async open(backend?: RehearsedBackend, accept: object = {}, shared?: Store): Promise<MemoryStage> {
    const home = await mkdtemp(join(tmpdir(), "tandem-memory-"));
    const store = shared ?? (await openStore(join(home, "tandem.db")));
    const rules = configSchema.parse({ context: { accept } }).context.accept;
    const place = { path: join(home, "context"), git: "own" as const, scratch: join(home, "scratch") };
    const context = await openContext({ ...place, store, accept: rules });
    return new MemoryStage({ store, context, home, isShared: shared !== undefined }, backend);
  }

  get memories(): Memories {
    return new Memories(this.context.folder);
  }

  /** Statements in order of creation. */
  async statements(): Promise<string[]> {
    return (await this.memories.own()).map(({ text }) => text);
  }

  async session(...said: Said[]): Promise<{ id: SessionId; events: SessionEvent[] }> {
    const id = newId("session");
    await this.store.sessions.create(rowOf(id), []);
    return { id, events: await this.say(id, ...said) };
  }

  async say(session: SessionId, ...said: Said[]): Promise<SessionEvent[]> {
    const lease = await this.store.leases.take(session, "a test", 60_000);
    const events = said.flatMap(eventsOf);
    await this.store.events.append(
      lease!,
      events.map((event) => ({ thread: null, event })),
    );
    await this.store.leases.release(lease!);
    return events;
  }

  async archive(session: SessionId): Promise<void> {
    const lease = await this.store.leases.take(session, "a test", 60_000);
    const event = { type: "session.status_terminated" as const, ...stamp() };
    const change = { status: "terminated" as const, archivedAt: new Date().toISOString() };
    await this.store.events.append(lease!, [{ thread: null, event }], { session: change });
    await this.store.leases.release(lease!);
  }

  parts(settings: Partial<Config["memory"]> = {}): MemoryParts {
    return { context: this.context, store: this.store, settings: { ...configSchema.parse({}).memory, ...settings } };
  }

  /** Runs a job with the given model script. */
  async run(
    params: object,
    {
      script = [],
      capture = "on",
      signal,
    }: { script?: Script; capture?: Config["memory"]["capture"]; signal?: AbortSignal } = {},
  ): Promise<JobRow & { requests: number }> {
    const runtime = this.#backend?.play(script, { limits: { patience: "1s" } });
    const llm: LlmSource | undefined = runtime && {
      backend: runtime.backend,
      open: async (onReport) => {
        this.#backend!.onReport = onReport;
        return { ...runtime, close: async () => {} };
      },
    };
    const kind = memoryKind(this.parts({ capture }));
    const row = await runOneJob({
      store: this.store,
      space: this.context.id,
      kind: "memory",
      params,
      holder: "a test",
      llm,
      modelOf: () => this.#backend?.model ?? "none",
      signal,
      body: (run) => kind.work(run, params),
    });
    return { ...row, requests: this.#backend?.rehearsal.modelRequests.length ?? 0 };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#isShared) await this.store[Symbol.asyncDispose]();
    await rm(this.#home, { recursive: true, force: true, maxRetries: 5 });
  }
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
