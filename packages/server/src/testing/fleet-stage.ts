import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findExecutable, openConversation, ProcessLedger } from "@tandem/claude-code";
import { ENVIRONMENT_METADATA, newId, systemClock } from "@tandem/protocol";
import { createEmbeddedQueue } from "@tandem/queue";
import { startRehearsal, type Rehearsal } from "@tandem/rehearsal";
import { createEngine, FleetMember, RecentOutage, type Engine, type FleetSettings } from "@tandem/sessions";
import { openStore, type Store } from "@tandem/storage";
import { startPostgres } from "@tandem/storage/testing";
import { inject } from "vitest";
import { ClientServers } from "../acp/client-servers.ts";
import { connectAgents } from "../acp/net/connect-agents.ts";
import type { FleetProcess } from "../tenants/fleet-process.ts";
import { SharedKey } from "../http/access/shared-key.ts";
import { HttpPeers } from "../fleet/http-peers.ts";
import { RemotePreviews } from "../fleet/remote-previews.ts";
import { createLogger } from "../http/create-logger.ts";
import { startTestServer, type TestServer } from "./start-test-server.ts";

const DEADLINE_MS = 300_000;

export interface StageMember {
  engine: Engine;
  store: Store;
  server: TestServer;
  holder: string;
  /** Simulates a crash: the process no longer answers, sends heartbeats or writes. */
  vanish(): Promise<void>;
}

/** One Postgres and one queue, with any number of fleet members, each with its own home and port. */
export interface FleetStage extends AsyncDisposable {
  /** The URL of the database. */
  database: string;
  rehearsal: Rehearsal;
  /** The folder of `env_local` sessions, for all processes of a machine. */
  folderOf(machine: string): string;
  join(
    role: FleetSettings["role"],
    worker?: { machine?: string; labels?: Record<string, string> },
  ): Promise<StageMember>;
}

/** `settings` are options of the Postgres server. */
export async function setFleetStage(settings: readonly string[] = []): Promise<FleetStage> {
  const root = await mkdtemp(join(tmpdir(), "tandem-fleet-"));
  await using setup = new AsyncDisposableStack();
  setup.defer(() => rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  const postgres = setup.use(await startPostgres({ settings }));
  const url = await postgres.createDatabase();
  const rehearsal = await startRehearsal([]);
  setup.defer(() => rehearsal.close());
  const queue = setup.use(createEmbeddedQueue());
  const members = setup.use(new AsyncDisposableStack());
  const log = { warn: () => undefined };

  const join_: FleetStage["join"] = async (role, { machine = "here", labels = {} } = {}) => {
    const id = newId("worker");
    const holder = `${role} ${id}`;
    const home = join(root, id);
    const [folder, stateFolder] = [join(root, machine), join(home, "state")];
    await Promise.all([mkdir(folder, { recursive: true }), mkdir(stateFolder, { recursive: true })]);
    await using parts = new AsyncDisposableStack();
    const store = parts.use(await openStore(url));
    const self: FleetProcess = { holder, role, store };
    const ledger = new ProcessLedger(join(stateFolder, "processes"));
    const worker = { id, machine, labels, tenants: null };
    const clientServers = new ClientServers();
    const peers = new HttpPeers({ workers: store.workers, self: id, key: new SharedKey(store.records), log });
    const outage = new RecentOutage(systemClock);
    const engine = await createEngine(store, {
      executable: findExecutable(undefined),
      credential: async () => ({ type: "api_key", key: "sk-ant-made-up-key", baseUrl: rehearsal.url }),
      hostVariables: { PATH: process.env["PATH"] ?? "", HOME: home, TMPDIR: root, NO_PROXY: "127.0.0.1" },
      stateFolder,
      deadlines: { spawn: DEADLINE_MS, init: DEADLINE_MS, firstByte: DEADLINE_MS, idle: DEADLINE_MS, exit: 2_000 },
      idle: 60_000,
      recovery: "resume",
      leaseTtl: 3_000 * inject("slowness"),
      holder,
      mcpTimeout: 10_000 * inject("slowness"),
      roots: [folder],
      models: async () => [{ id: "claude-sonnet-5-5", name: `Sonnet of ${machine}`, aliases: ["sonnet"] }],
      openConversation,
      sweep: () => ledger.sweep(),
      sessionServers: (session) => clientServers.of(session),
      fleet: { queue, role, tenant: "default", worker, maxSessions: 10, peers, outage },
      previews: parts.use(new RemotePreviews(self, { tenant: "default", logger: log })),
      log,
    });
    const acp = connectAgents({
      engine,
      clientServers,
      version: "1.2.3",
      logger: createLogger({ destination: { write: () => undefined } }),
      begin: async (path) => ({
        agent: (await engine.agents.create({ name: "a", model: "claude-sonnet-5-5" })).id,
        environment_id: (
          await engine.environments.create({ name: "e", metadata: { [ENVIRONMENT_METADATA.path]: path } })
        ).id,
      }),
    });
    const server = await startTestServer({
      acp,
      engine,
      tokens: store.tokens,
      records: store.records,
      check: () => store.check(),
      fleet: self,
      promiseNoTakeover: () => outage.promise(),
      endTaken: (lease) => engine.runs.endTaken(lease),
    });
    parts.use(server);
    await engine.start();
    const member = new FleetMember({
      store,
      queue,
      log,
      peers,
      clock: systemClock,
      open: () => [engine.runs],
      runsOf: async () => engine.runs,
      row: {
        id,
        holder,
        role,
        machine,
        labels,
        tenants: null,
        roots: [folder],
        address: server.url,
        payer: null,
        version: "0",
        maxSessions: 10,
        startedAt: new Date().toISOString(),
      },
    });
    await member.start();
    const own = parts.move();
    let ending: Promise<void> | undefined;
    const end = async (): Promise<void> => {
      await engine.stop(0);
      await member.stop(0);
      await own.disposeAsync();
    };
    members.defer(() => (ending ??= end()));
    return {
      engine,
      store,
      server,
      holder,
      vanish: () =>
        (ending ??= (async () => {
          await server[Symbol.asyncDispose]();
          await store[Symbol.asyncDispose]();
        })()),
    };
  };

  const all = setup.move();
  return {
    database: url,
    rehearsal,
    folderOf: (machine) => join(root, machine),
    join: join_,
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}
