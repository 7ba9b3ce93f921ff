import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Anthropic from "@anthropic-ai/sdk";
import type { AgentCreateParams } from "@anthropic-ai/sdk/resources/beta/agents/agents";
import type { SessionCreateParams } from "@anthropic-ai/sdk/resources/beta/sessions/sessions";
import { findExecutable, openConversation, ProcessLedger } from "@tandem/claude-code";
import { ENVIRONMENT_METADATA } from "@tandem/protocol";
import { startRehearsal, type Rehearsal } from "@tandem/rehearsal";
import { createEngine, type Engine, type EngineSettings } from "@tandem/sessions";
import { openStore } from "@tandem/storage";
import { inject } from "vitest";
import { ClientServers } from "../acp/client-servers.ts";
import { connectAgents } from "../acp/net/connect-agents.ts";
import { createLogger } from "../http/create-logger.ts";
import type { ServedContext } from "../served-context.ts";
import { startTestServer, type TestServer } from "./start-test-server.ts";

const DEADLINE_MS = 120_000 * inject("slowness");

/** The official client, unmodified, against a server with the real engine, the real Claude Code and a rehearsal. */
export interface JudgeStage extends AsyncDisposable {
  client: Anthropic;
  server: TestServer;
  engine: Engine;
  rehearsal: Rehearsal;
  /** The folder of `env_local` sessions. */
  folder: string;
  /** The database file. */
  database: string;
  agent(params?: Partial<AgentCreateParams>): Promise<string>;
  /** Creates a session of a new agent, in `env_local` by default. */
  session(params?: Partial<SessionCreateParams>, agent?: Partial<AgentCreateParams>): Promise<string>;
  say(session: string, text: string): Promise<void>;
}

interface JudgeStageOptions {
  /** The caller disposes of it. */
  context?: ServedContext;
  /** Also serves opencode's clients. */
  opencode?: boolean;
  /** Settings besides those of all stages. */
  engine?: (rehearsal: Rehearsal) => Partial<EngineSettings>;
}

export async function setJudgeStage({ context, opencode, engine: more }: JudgeStageOptions = {}): Promise<JudgeStage> {
  const root = await mkdtemp(join(tmpdir(), "tandem-judge-"));
  const [folder, home, stateFolder] = ["project", "home", "state"].map((name) => join(root, name)) as [
    string,
    string,
    string,
  ];
  await Promise.all([folder, home, stateFolder].map((path) => mkdir(path)));
  const rehearsal = await startRehearsal([]);
  const database = join(root, "tandem.db");
  const store = await openStore(database);
  const ledger = new ProcessLedger(join(stateFolder, "processes"));
  const clientServers = new ClientServers();
  const engine = await createEngine(store, {
    sessionServers: (session) => clientServers.of(session),
    contextMemories: () => context?.context.memoryStores,
    executable: findExecutable(undefined),
    credential: async () => ({ type: "api_key", key: "sk-ant-made-up-key", baseUrl: rehearsal.url }),
    hostVariables: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: root, NO_PROXY: "127.0.0.1" },
    stateFolder,
    deadlines: { spawn: DEADLINE_MS, init: DEADLINE_MS, firstByte: DEADLINE_MS, idle: DEADLINE_MS, exit: 2_000 },
    idle: 60_000,
    recovery: "stop",
    leaseTtl: 10_000,
    holder: "judge",
    mcpTimeout: 10_000 * inject("slowness"),
    roots: [folder],
    models: async () => [
      { id: "claude-sonnet-5-5", name: "Sonnet 5.5", aliases: ["sonnet"] },
      { id: "claude-haiku-5-5", name: "Haiku 5.5", aliases: ["haiku"] },
    ],
    openConversation,
    sweep: () => ledger.sweep(),
    log: { warn: () => undefined },
    // `npm run soak -- --sandbox`
    ...(process.env["TANDEM_TEST_SANDBOX"] === "require" && { sandbox: { mode: "require" } }),
    ...more?.(rehearsal),
  });
  await engine.start();
  const begin = async (path: string, agent?: string) => ({
    agent: agent ?? (await stage.agent()),
    environment_id: (await engine.environments.create({ name: path, metadata: { [ENVIRONMENT_METADATA.path]: path } }))
      .id,
  });
  const acp = connectAgents({
    engine,
    clientServers,
    version: "1.2.3",
    logger: createLogger({ destination: { write: () => undefined } }),
    begin,
  });
  const server = await startTestServer({
    engine,
    tokens: store.tokens,
    records: store.records,
    check: () => store.check(),
    acp,
    ...(opencode && { opencode: { folder, usualMode: "default", usualModel: "sonnet", begin } }),
    ...(context && { context }),
  });
  const client = new Anthropic({ apiKey: server.secret, baseURL: server.url });

  const stage: JudgeStage = {
    client,
    server,
    engine,
    rehearsal,
    folder,
    database,
    async agent(params = {}) {
      const tools = [{ type: "agent_toolset_20260401" as const }];
      return (await client.beta.agents.create({ name: "judge", model: "sonnet", tools, ...params })).id;
    },
    async session(params = {}, agentParams = {}) {
      const agent = params.agent ?? (await stage.agent(agentParams));
      return (await client.beta.sessions.create({ environment_id: "env_local", ...params, agent })).id;
    },
    async say(session, text) {
      await client.beta.sessions.events.send(session, {
        events: [{ type: "user.message", content: [{ type: "text", text }] }],
      });
    },
    async [Symbol.asyncDispose]() {
      await server.close(0);
      await engine.stop(0);
      await store[Symbol.asyncDispose]();
      await rehearsal.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
  return stage;
}
