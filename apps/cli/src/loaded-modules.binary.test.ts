import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { AcpLines } from "./testing/acp-lines.ts";
import { pipesOf } from "./testing/open-command.ts";
import { scratchMachine } from "./testing/run-tandem.ts";
import { startUp } from "./testing/session-machine.ts";

/** The sources: the modules of the built package have no names. */
const tandem = fileURLToPath(new URL("../bin/tandem.mjs", import.meta.url));

/** A machine that records the modules that a command loads. */
async function recordingMachine() {
  const machine = await scratchMachine();
  const [hook, record] = [machine.folder.join("hook.mjs"), machine.folder.join("modules.txt")];
  await writeFile(
    hook,
    `import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
registerHooks({
  load(url, context, next) {
    appendFileSync(${JSON.stringify(record)}, url + "\\n");
    return next(url, context);
  },
});
`,
  );
  return {
    ...machine,
    options: { tandem, env: { NODE_OPTIONS: `--import=${pathToFileURL(hook).href}` } },
    /** The libraries and workspaces among the modules so far, and Node's network. */
    async loaded(): Promise<Set<string>> {
      await using _ = { [Symbol.asyncDispose]: () => writeFile(record, "") };
      const urls = (await readFile(record, "utf8").catch(() => "")).split("\n");
      return new Set(urls.flatMap((url) => nameOf(url) ?? []));
    },
  };
}

const nameOf = (url: string): string | undefined =>
  /^node:https?$/.exec(url)?.[0] ??
  /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ??
  /\/packages\/([^/]+)\/src\//.exec(url)?.[1];

/** Libraries and workspaces that need much time or memory, and that no command needs before it has work for them. */
const HEAVY = [
  "@anthropic-ai/claude-agent-sdk",
  "@modelcontextprotocol/sdk",
  "@agentclientprotocol/sdk",
  "@duckdb/node-api",
  "@polyglot-sql/sdk",
  "ajv",
  "libpg-query",
  "mysql2",
  "pg",
  "undici",
  "ws",
  "connectors",
  "context",
  "metrics",
  "rehearsal",
  "relationships",
];
/** Beside the server, these are needed for sessions only. */
const SERVER = ["server", "sessions", "storage", "zod"];

test("--version and --help load no library but the parser of arguments", async () => {
  await using machine = await recordingMachine();
  await machine.runProcess(["--version"], machine.options);
  expect(await machine.loaded()).toEqual(new Set());
  await machine.runProcess(["--help"], machine.options);
  expect(await machine.loaded()).toEqual(new Set(["commander"]));
});

test("an idle server loads no library that only sessions, editors or a context need", async () => {
  await using machine = await recordingMachine();
  await using server = await startUp(machine.start(["up", "--json", "--port", "0"], machine.options));
  const { status } = await fetch(`${server.url}/v1/sessions`, { headers: { "x-api-key": server.token } });
  expect(status).toBe(200);
  const loaded = await machine.loaded();
  expect(
    SERVER.filter((name) => !loaded.has(name)),
    "the record works",
  ).toEqual([]);
  expect(HEAVY.filter((name) => loaded.has(name))).toEqual([]);
});

test("an editor's agent opens a session without Node's network and the libraries of a turn", async () => {
  await using machine = await recordingMachine();
  await using editor = new AcpLines(pipesOf(machine.start(["acp"], machine.options)), () => undefined);
  await editor.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  await editor.ask("session/new", { cwd: machine.project, mcpServers: [] });
  const loaded = await machine.loaded();
  expect(SERVER.filter((name) => !loaded.has(name))).toEqual([]);
  expect(["node:http", "node:https", ...HEAVY].filter((name) => loaded.has(name))).toEqual([
    "@agentclientprotocol/sdk",
  ]);
});
