import { once } from "node:events";
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import {
  madeUpLogin,
  startRehearsal,
  type ModelRequest,
  type Rehearsal,
  type Reply,
  text,
  toolUse,
} from "@tandem/rehearsal";
import type { UnpackedFixture } from "./unpack-fixture.ts";

const TANDEM = fileURLToPath(new URL("../../apps/cli/bin/tandem.mjs", import.meta.url));

/** Longer than the server's grace period for turns. */
const STOP_MS = 60_000;

export interface UpgradedServer extends AsyncDisposable {
  url: string;
  rehearsal: Rehearsal;
  /** Calls a route with JSON; rejects unless the status is a success. */
  call: <T>(method: string, path: string, body?: unknown) => Promise<T>;
  /** The status of a request with this token. */
  status(token: string, method: string, path: string, body?: unknown): Promise<number>;
  /** Runs a command of the CLI in the project. */
  tandem(...args: string[]): Promise<string>;
  /** Stops the server like an operator; resolves with its exit code. */
  stop(): Promise<number | null>;
}

/** Starts this version's `tandem up` on the files of the first edition, with the stand-in for the model behind it. */
export async function startUpgradedServer(fixture: UnpackedFixture, databaseUrl?: string): Promise<UpgradedServer> {
  await using parts = new AsyncDisposableStack();
  const rehearsal = parts.use(await startRehearsal((request) => answer(request, fixture), { proxy: true }));
  const configDir = join(fixture.home, ".claude");
  const scratch = join(fixture.root, "tmp");
  mkdirSync(scratch);
  await madeUpLogin(configDir);
  const env = {
    PATH: [dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    HOME: fixture.home,
    TANDEM_HOME: fixture.tandemHome,
    CLAUDE_CONFIG_DIR: configDir,
    TMPDIR: scratch,
    LANG: "C.UTF-8",
    ...rehearsal.proxy.variables,
    NO_PROXY: "127.0.0.1",
    ACME_KEY: "sk-ant-made-up-acme",
    // On Postgres, sessions stay on the machine that has their folder.
    TANDEM_MACHINE: "first-edition",
    ...(databaseUrl !== undefined && { DATABASE_URL: databaseUrl }),
  };
  const start = (args: readonly string[]): ChildProcess =>
    spawn(process.execPath, [TANDEM, ...args], { cwd: fixture.project, env, stdio: ["ignore", "pipe", "pipe"] });

  const child = start(["up", "--json", "--port", "0"]);
  let said = "";
  child.stderr?.setEncoding("utf8").on("data", (chunk: string) => (said += chunk));
  const exited = once(child, "exit") as Promise<[number | null]>;
  // Asked to stop, it ends the processes of Claude Code, which would write into the folder that is being removed.
  parts.defer(async () => {
    child.kill("SIGTERM");
    const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    await exited;
    clearTimeout(timer);
  });
  const refused = exited.then((): never => {
    throw new Error(`tandem up ended: ${said}`);
  });
  // Awaited only until the server is up.
  refused.catch(() => undefined);
  const lines = createInterface({ input: child.stdout! });
  const [line] = (await Promise.race([once(lines, "line"), refused])) as [string];
  const { url } = JSON.parse(line) as { url: string };

  const request = (token: string, method: string, path: string, body?: unknown): Promise<Response> =>
    fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const owned = parts.move();
  return {
    url,
    rehearsal,
    async call<T>(method: string, path: string, body?: unknown): Promise<T> {
      const response = await request(fixture.tokens.operator, method, path, body);
      const content = await response.text();
      if (!response.ok) throw new Error(`${method} ${path} failed with ${response.status}: ${content}`);
      return JSON.parse(content) as T;
    },
    status: async (token, method, path, body) => (await request(token, method, path, body)).status,
    async tandem(...args) {
      const command = start(args);
      let [stdout, stderr] = ["", ""];
      command.stdout?.setEncoding("utf8").on("data", (chunk: string) => (stdout += chunk));
      command.stderr?.setEncoding("utf8").on("data", (chunk: string) => (stderr += chunk));
      const [code] = (await once(command, "close")) as [number | null];
      if (code !== 0) throw new Error(`tandem ${args.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    },
    async stop() {
      child.kill("SIGTERM");
      return (await exited)[0];
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The model: each conversation of the fixture is recognised by its first message. */
function answer({ messages, toolResults: [result] }: ModelRequest, { project }: UnpackedFixture): Reply {
  const whole = JSON.stringify(messages);
  const isMade = (name: string): boolean => existsSync(join(project, "work", name));
  const bash = (command: string): Reply => toolUse("Bash", { command });
  if (whole.includes("Make the approved file.")) {
    return isMade("approved.txt") ? text("Approved and made.") : bash("touch approved.txt");
  }
  if (whole.includes("Make the granted file.")) {
    return isMade("granted.txt") ? text("Granted and made.") : bash("touch granted.txt");
  }
  if (whole.includes("Ask me a question.")) return text("Noted.");
  if (whole.includes("And then?")) return text("That is all.");
  if (whole.includes("Work until the quota.")) return text("The quota is back.");
  if (whole.includes("Fetch something.")) {
    return result?.isError ? text("It was denied.") : bash("wget http://127.0.0.1:9/");
  }
  return text("I am still here.");
}
