import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { once } from "node:events";
import { delimiter } from "node:path";
import { TandemError } from "@tandem/protocol";
import type { CrashTestStage } from "./crash-test-stage.ts";
import type { SystemPlan } from "./tested-system.ts";

export interface CommandSystemOptions {
  command: readonly [string, ...string[]];
  cwd: string;
  env: Readonly<Record<string, string | undefined>>;
  /** A literal key, `env:NAME` or `file:PATH`. */
  apiKey?: string;
  /** The path that answers 2xx when the server is ready. */
  health?: string;
  environment?: string;
  childPattern?: RegExp;
  startMs?: number;
}

/** The key of the clients, unless one is given. The server also gets it as its key for the model. */
const DEFAULT_API_KEY = "sk-ant-crash-test";
const HEALTH = "/v1/agents";
const START_MS = 60_000;
const CHECK_MS = 5_000;
/** Below those that the system gives to connections: none of these may take the port of a server that is down. */
const PORTS = [20_000, 32_768] as const;
const MOST_PORTS = 100;

/** Any server of this API that a command starts. It keeps its address over restarts. */
export function commandSystem(options: CommandSystemOptions): (stage: CrashTestStage) => Promise<SystemPlan> {
  return async (stage) => {
    const port = await freePort();
    const places: Record<string, string> = {
      port: String(port),
      folder: stage.folder,
      state: stage.state,
      model_url: stage.modelUrl,
    };
    const fill = (text: string): string =>
      text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => places[name] ?? whole);
    const [program, ...args] = options.command;
    const apiKey = keyReader(fill(options.apiKey ?? DEFAULT_API_KEY), options.env);
    const url = `http://127.0.0.1:${port}`;
    return {
      processes: [
        {
          name: "server",
          role: "server",
          command: [fill(program), ...args.map(fill)],
          env: {
            ...defined(options.env),
            ...stage.writes.variables,
            PATH: `${options.env["PATH"] ?? ""}${delimiter}${stage.mark}`,
            PORT: String(port),
            ANTHROPIC_BASE_URL: stage.modelUrl,
            ANTHROPIC_API_KEY: DEFAULT_API_KEY,
            CRASH_TEST_FOLDER: stage.folder,
            CRASH_TEST_STATE: stage.state,
            TANDEM_HOME: `${stage.state}/tandem`,
            CLAUDE_CONFIG_DIR: `${stage.state}/claude`,
          },
          cwd: options.cwd,
          port,
          check: () => checkHealth(`${url}${options.health ?? HEALTH}`, apiKey),
        },
      ],
      apiKey,
      ...(options.environment !== undefined && { environment: options.environment }),
      childPattern: options.childPattern ?? /claude/i,
      disk: stage.disk,
      clock: stage.clock,
      writes: stage.writes,
      startMs: options.startMs ?? START_MS,
    };
  };
}

/** A server that something else runs: only its network can have faults. */
export function urlSystem(options: Pick<CommandSystemOptions, "apiKey" | "environment" | "env"> & { url: string }) {
  return async (): Promise<SystemPlan> => ({
    processes: [],
    url: options.url.replace(/\/$/, ""),
    apiKey: keyReader(options.apiKey ?? DEFAULT_API_KEY, options.env),
    ...(options.environment !== undefined && { environment: options.environment }),
    childPattern: /claude/i,
    disk: "the server is at a URL",
    clock: undefined,
    startMs: START_MS,
  });
}

export async function checkHealth(url: string, apiKey: () => string): Promise<void> {
  const headers = { "x-api-key": apiKey(), "anthropic-version": "2023-06-01" };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(CHECK_MS) });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
}

/** A port that is free now. A server needs the same one after each restart. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < MOST_PORTS; tries += 1) {
    const port = randomInt(...PORTS);
    const server = createServer();
    const isFree = new Promise<boolean>((resolve) => {
      server.once("listening", () => resolve(true)).once("error", () => resolve(false));
    });
    server.listen(port, "127.0.0.1");
    if (!(await isFree)) continue;
    server.close();
    await once(server, "close");
    return port;
  }
  throw new Error("There is no free port.");
}

/** A file may appear only once the server runs. */
function keyReader(key: string, env: CommandSystemOptions["env"]): () => string {
  if (key.startsWith("file:")) return () => readFileSync(key.slice("file:".length), "utf8").trim();
  if (!key.startsWith("env:")) return () => key;
  const name = key.slice("env:".length);
  const value = env[name];
  if (value === undefined) {
    throw new TandemError("usage", `The variable ${name} of --api-key is not set.`, { fix: `Set ${name}.` });
  }
  return () => value;
}

const defined = (env: CommandSystemOptions["env"]): Record<string, string> =>
  Object.fromEntries(Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
