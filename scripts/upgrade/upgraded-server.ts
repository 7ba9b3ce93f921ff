import { mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import {
  madeUpLogin,
  startRehearsal,
  type ModelRequest,
  type Rehearsal,
  type Reply,
  text,
  toolUse,
} from "@tandem/rehearsal";
import { openCommand } from "../../apps/cli/src/testing/open-command.ts";
import { seedModels } from "../../apps/cli/src/testing/seed-models.ts";
import { openUp } from "../../apps/cli/src/testing/session-machine.ts";
import type { UnpackedFixture } from "./unpack-fixture.ts";

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
  const rehearsal = parts.use(await startRehearsal(answer, { proxy: true }));
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
  await seedModels({ project: fixture.project, variables: env });
  const open = (args: readonly string[]) => openCommand(args, { cwd: fixture.project, env });
  const up = parts.use(await openUp(open(["up", "--json", "--port", "0"])));
  const { url } = up;

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
      const command = open(args);
      command.stdin.end();
      const { code, stdout, stderr } = await command.outcome;
      if (code !== 0) throw new Error(`tandem ${args.join(" ")} ended with ${code}: ${stderr}`);
      return stdout;
    },
    async stop() {
      return (await up.stop()).code;
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The model: each conversation of the fixture is recognised by its first message. */
function answer({ messages, toolResults: [result] }: ModelRequest): Reply {
  const whole = JSON.stringify(messages);
  const bash = (command: string): Reply => toolUse("Bash", { command });
  // It repeats no call: allowed calls run by themselves.
  if (whole.includes("Make the approved file.")) return text("Approved and made.");
  if (whole.includes("Make the granted file.")) return text("Granted and made.");
  if (whole.includes("Ask me a question.")) return text("Noted.");
  if (whole.includes("And then?")) return text("That is all.");
  if (whole.includes("Work until the quota.")) return text("The quota is back.");
  if (whole.includes("Fetch something.")) {
    return result?.isError ? text("It was denied.") : bash("wget http://127.0.0.1:9/");
  }
  return text("I am still here.");
}
