import { execFile } from "node:child_process";
import { cp, mkdir, writeFile } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import {
  checkHealth,
  freePort,
  type CrashTestStage,
  type ExtraFault,
  type ProcessPlan,
  type SystemPlan,
} from "@tandem/crash-test";
import { startPostgres, type TestPostgres } from "@tandem/storage/testing";
import { TANDEM } from "../../apps/cli/src/testing/run-tandem.ts";
import { seedModels } from "../../apps/cli/src/testing/seed-models.ts";
import { inspectStore } from "./inspect-store.ts";

const run = promisify(execFile);

/** The systems of Tandem that `npm run crash-test` tests. */
export const BACKENDS = ["sqlite", "postgres", "fleet"] as const;
export type Backend = (typeof BACKENDS)[number];

/**
 * Short leases, so that the next process takes over quickly, but not so short that a busy machine looks like a suspended
 * process; processes are released early, so that turns start new ones.
 */
const SETTINGS = "sessions: { takeover: 4s, idle: 2s, recovery: resume }\n";
/** An orphaned Claude Code exits at its next read or write; the next start of its server ends it at the latest. */
const LONGEST_ORPHAN_MS = 15_000;
const WORKERS = 2;
const START_MS = 120_000;
const AWAY_MS = 1_500;
const PAUSES_MS = [200, 1_000, 3_000] as const;

export interface TandemOptions {
  /** Of a fleet. */
  workers?: number | undefined;
  /** Whether sessions run in the sandbox. */
  sandbox?: boolean | undefined;
  /** The build to start. */
  tandem?: string | undefined;
  extraFaults?: readonly ExtraFault[] | undefined;
}

/** Tandem on one machine, with a scratch home and the scripted model. */
export async function tandemSystem(
  backend: Backend,
  stage: CrashTestStage,
  parts: AsyncDisposableStack,
  { workers = WORKERS, sandbox: hasSandbox = false, tandem = TANDEM, extraFaults = [] }: TandemOptions,
): Promise<SystemPlan> {
  const postgres = backend === "sqlite" ? undefined : parts.use(await startPostgres());
  const database = await postgres?.createDatabase();
  const project = join(stage.folder, "project");
  await mkdir(project);
  const llm = `llm:\n  claudeCode: { auth: api_key, apiKey: "env:SESSION_KEY", baseUrl: "${stage.modelUrl}" }\n`;
  const storage = database === undefined ? "" : `storage: { url: "env:TEST_DATABASE" }\n`;
  const { folder: effects, port } = stage.effects;
  // In the sandbox, tools reach the observer only through these.
  const sandbox = hasSandbox
    ? `mode: require, mounts: [{ path: "${effects}", write: true }], services: [{ port: ${port} }]`
    : "mode: off";
  await writeFile(join(project, "tandem.yaml"), `${llm}${storage}${SETTINGS}sandbox: { ${sandbox} }\n`);
  const variablesOf = (home: string): Record<string, string> => ({
    ...stage.writes.variables,
    PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin", stage.mark].join(delimiter),
    HOME: home,
    TANDEM_HOME: join(home, ".tandem"),
    CLAUDE_CONFIG_DIR: join(home, ".claude"),
    TMPDIR: join(stage.folder, "tmp"),
    LANG: "C.UTF-8",
    HTTPS_PROXY: "http://127.0.0.1:9",
    NO_PROXY: "127.0.0.1",
    SESSION_KEY: "sk-ant-made-up",
    ...(database !== undefined && { TEST_DATABASE: database }),
    ...(process.env["NODE_COMPILE_CACHE"] && { NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"] }),
  });
  await mkdir(join(stage.folder, "tmp"));
  const first = join(stage.state, "server-1");
  await mkdir(first, { recursive: true });
  await run(process.execPath, [TANDEM, "trust"], { cwd: project, env: variablesOf(first) });
  await seedModels({ project, variables: variablesOf(first) });
  const apiKey = (): string => readFileSync(join(first, ".tandem", "token"), "utf8").trim();
  const member = async (name: string, role: ProcessPlan["role"], args: readonly string[]): Promise<ProcessPlan> => {
    const home = join(stage.state, name);
    // Trust is stored per home.
    if (home !== first) await cp(first, home, { recursive: true });
    const port = await freePort();
    const path = role === "server" ? "/v1/agents" : "/readyz";
    return {
      name,
      role,
      command: [process.execPath, tandem, "up", "--json", "--no-open", "--port", String(port), ...args],
      env: variablesOf(home),
      cwd: project,
      port,
      check: () => checkHealth(`http://127.0.0.1:${port}${path}`, role === "server" ? apiKey : () => ""),
    };
  };
  const processes = [await member("server-1", "server", backend === "fleet" ? ["--as", "server"] : [])];
  if (backend === "fleet") {
    processes.push(await member("server-2", "server", ["--as", "server"]));
    for (let number = 1; number <= workers; number += 1) {
      processes.push(await member(`worker-${number}`, "worker", ["--as", "worker", "--max-sessions", "3"]));
    }
  }
  return {
    processes,
    apiKey,
    environment: "env_local",
    // Claude Code itself, not the helpers of the server.
    childPattern: /--input-format/,
    disk: stage.disk,
    clock: stage.clock,
    writes: stage.writes,
    extraFaults: [...(postgres ? [killDatabase(postgres), pauseDatabase(postgres)] : []), ...extraFaults],
    longestOrphanMs: LONGEST_ORPHAN_MS,
    inspect: (sessions, acknowledgements) =>
      inspectStore(database ?? join(first, ".tandem", "tandem.db"), sessions, acknowledgements),
    startMs: START_MS,
  };
}

const pauseDatabase = (postgres: TestPostgres): ExtraFault => ({
  kind: "pause-database",
  description: "SIGSTOP of the database for up to three seconds, then SIGCONT",
  sparesProcesses: true,
  inject: async (random) => {
    using _paused = postgres.pause();
    await sleep(random.pick(PAUSES_MS));
    return true;
  },
});

const killDatabase = (postgres: TestPostgres): ExtraFault => ({
  kind: "kill-database",
  description: "kill -9 of the database, then a restart",
  sparesProcesses: true,
  inject: async (random) => {
    await postgres.kill();
    await sleep(random.between(0, AWAY_MS));
    await postgres.start();
    return true;
  },
});
