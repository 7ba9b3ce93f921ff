import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LlmError, type Usage } from "@tandem/protocol";
import { madeUpLogin, startRehearsal, type Rehearsal, type RehearsalOptions, type Script } from "@tandem/rehearsal";
import { ClaudeCode, type ClaudeCall, type ClaudeCodeSettings } from "../calls/claude-code.ts";
import type { Credential } from "../credential.ts";

type Overrides = Partial<Omit<ClaudeCodeSettings, "pool" | "deadlines">> & {
  pool?: Partial<ClaudeCodeSettings["pool"]>;
  deadlines?: Partial<ClaudeCodeSettings["deadlines"]>;
};

const DEADLINE_MS = 300_000;
/** Deadlines that a busy machine keeps: where one is the subject of a test, the test sets it. */
export const PATIENT = {
  spawn: DEADLINE_MS,
  init: DEADLINE_MS,
  firstByte: DEADLINE_MS,
  idle: DEADLINE_MS,
  exit: 2_000,
};

/** A scratch home with a fake login, the rehearsal behind a proxy, and the real binary. */
export interface Stage extends AsyncDisposable {
  rehearsal: Rehearsal;
  home: string;
  configDir: string;
  stateFolder: string;
  hostVariables: Record<string, string>;
  apiKey: Credential;
  login: Credential;
  /** A new instance; closed with the stage. */
  claude(overrides?: Overrides): ClaudeCode;
}

export async function setStage(
  script: Script = [],
  options: RehearsalOptions & { loggedIn?: boolean } = {},
): Promise<Stage> {
  const root = await mkdtemp(join(tmpdir(), "tandem-stage-"));
  const rehearsal = await startRehearsal(script, { proxy: true, ...options });
  const home = join(root, "home");
  const configDir = join(home, ".claude");
  const stateFolder = join(root, "tandem");
  await mkdir(configDir, { recursive: true });
  if (options.loggedIn !== false) await madeUpLogin(configDir);
  const hostVariables = {
    PATH: process.env["PATH"] ?? "",
    HOME: home,
    TMPDIR: root,
    ...rehearsal.proxy.variables,
    NO_PROXY: "127.0.0.1",
  };
  const login: Credential = { type: "login", configDir };
  const instances: ClaudeCode[] = [];
  return {
    rehearsal,
    home,
    configDir,
    stateFolder,
    hostVariables,
    login,
    apiKey: { type: "api_key", key: "sk-ant-made-up-key", baseUrl: rehearsal.url },
    claude(overrides = {}) {
      const claude = new ClaudeCode({
        credential: login,
        stateFolder,
        hostVariables,
        ...overrides,
        pool: {
          mode: "reuse",
          size: 3,
          maxCalls: 50,
          maxAge: 600_000,
          maxMemoryMb: 300,
          idle: 60_000,
          ...overrides.pool,
        },
        deadlines: {
          ...PATIENT,
          ...overrides.deadlines,
        },
      });
      instances.push(claude);
      return claude;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(instances.map((claude) => claude.close()));
      await rehearsal.close();
      await rm(root, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
    },
  };
}

/** Default call parameters. `used` collects the reported usage. */
export function call(overrides: Partial<ClaudeCall> = {}): ClaudeCall & { used: [string, Usage][] } {
  const used: [string, Usage][] = [];
  return {
    model: "sonnet",
    system: undefined,
    prompt: "Say hello.",
    signal: new AbortController().signal,
    attempt: (operation) => operation(1),
    onUsage: (model, usage) => used.push([model, usage]),
    ...overrides,
    used,
  };
}

/** Pids in the stage's ledger: its running Claude Code processes. */
export const runningProcesses = async (stage: Stage): Promise<number[]> =>
  (await readdir(join(stage.stateFolder, "processes"))).map((name) => Number.parseInt(name, 10));

/** Polls until a state is reached; fails with the last value after the timeout. */
export async function eventually<T>(
  read: () => T | Promise<T>,
  reached: (value: T) => boolean,
  timeoutMs = 120_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  while (true) {
    const value = await read();
    if (reached(value)) return value;
    if (Date.now() > deadline)
      throw new Error(`The awaited state was not reached; last seen: ${JSON.stringify(value)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** The error with which a call fails. */
export async function failure(work: Promise<unknown>): Promise<LlmError> {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (error instanceof LlmError) return error;
  throw new Error(`The call did not fail with an LlmError: ${String(error)}`);
}
