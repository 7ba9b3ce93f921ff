import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { HostServer } from "@tandem/claude-code";
import type { SessionRules } from "@tandem/policy";
import type { SessionRow } from "@tandem/storage";
import { scratchFolder } from "@tandem/storage/testing/scratch-store";
import { readFolderConfig } from "@tandem/workspace";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MovableClock } from "../host/movable-clock.ts";
import type { ProcessSettings } from "../process/process-settings.ts";
import { diagnoseEdit } from "./diagnose-edit.ts";
import { LanguageServers } from "./language-servers.ts";

const PROGRAM = fileURLToPath(import.meta.resolve("./testing/scripted-server.cjs"));
const IDLE_MS = 60_000;

let root: string;
let folder: string;
let clock: MovableClock;
let servers: LanguageServers;
let tools: HostServer;
let mcpTimeout = 20_000;
let isTrusted: boolean;
let denied: string;

beforeEach(async () => {
  root = await scratchFolder();
  folder = join(root, "folder");
  await mkdir(folder);
  await put("a.txt", "one\nsecond CRASH\nthird HANG\nfourth GARBAGE\n");
  clock = new MovableClock();
  isTrusted = true;
  denied = "";
  mcpTimeout = 20_000;
  open();
  tools = (await servers.toolsFor(row()))!;
});
afterEach(() => servers.stop());

const put = (path: string, text: string): Promise<void> => writeFile(join(folder, path), text);

function open(): void {
  const settings: Partial<ProcessSettings> = {
    clock,
    mcpTimeout,
    stateFolder: join(root, "state"),
    hostVariables: { PATH: process.env["PATH"] ?? "", HOME: root },
    trustOf: async () => ({
      trusted: isTrusted,
      state: isTrusted ? "trusted" : "untrusted",
      folder,
      since: null,
      config: await readFolderConfig(folder),
    }),
  };
  const log = join(root, "starts");
  const server = { name: "scripted", command: [PROGRAM, log], extensions: [".txt"], languageId: "text" };
  const sessionRules: Pick<SessionRules, "judge"> = {
    judge: ({ input }) =>
      input["file_path"] === denied ? { action: "deny", by: "rule", why: "It is denied." } : undefined,
  };
  servers = new LanguageServers({
    settings: { ...(settings as ProcessSettings), lsp: { idleMs: IDLE_MS, servers: [server] } },
    rulesOf: async () => sessionRules as SessionRules,
  });
}

const row = (tools = [{ type: "agent_toolset_20260401" }]): SessionRow =>
  ({
    folder,
    agent: { tools: tools.map((tool) => ({ configs: [], default_config: { enabled: true }, ...tool })) },
  }) as unknown as SessionRow;

const ask = (name: string, input: object, signal = new AbortController().signal) =>
  tools.tools.find((tool) => tool.name === name)!.run(input, signal);

/** Pids of the servers and of their children, by start. */
const starts = async (): Promise<number[][]> =>
  (await readFile(join(root, "starts"), "utf8").catch(() => ""))
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split(" ").slice(1).map(Number));

/** Servers that run, by the ledger. */
const running = async (): Promise<number> => (await readdir(join(root, "state", "processes"))).length;

test("are offered in trusted folders only, to agents that may read, for files that exist", async () => {
  expect(tools.tools.map(({ name }) => name)).toEqual(["diagnostics", "definition", "references", "hover", "symbols"]);
  expect(tools.tools.every(({ readOnly }) => readOnly)).toBe(true);
  isTrusted = false;
  expect(await servers.toolsFor(row())).toBeUndefined();
  isTrusted = true;
  expect(await servers.toolsFor(row([]))).toBeUndefined();
  expect(await servers.toolsFor({ ...row(), selfHosted: true })).toBeUndefined();
  expect(await servers.toolsFor({ ...row(), folder: join(root, "state") })).toBeUndefined();
  await put(".mcp.json", JSON.stringify({ mcpServers: { lsp: { command: "mine" } } }));
  expect(await servers.toolsFor(row()), "the folder's own server has the name").toBeUndefined();
  expect(existsSync(join(root, "starts")), "none was started for this").toBe(false);
});

test("start with the first question, are shared, and end with the last process of the folder", async () => {
  const [first, second] = [servers.hold(folder), servers.hold(folder)];
  const questions = ["hover", "hover", "definition"].map((name) => ask(name, { path: "a.txt", line: 1, symbol: "ne" }));
  expect((await Promise.all(questions)).map(({ text }) => text)).toEqual([
    "at 1: one",
    "at 1: one",
    "a.txt:1:1\n    one",
  ]);
  expect(await starts()).toHaveLength(1);
  await first[Symbol.asyncDispose]();
  await ask("hover", { path: join(folder, "a.txt"), line: 1, column: 2 });
  expect(await running()).toBe(1);
  await second[Symbol.asyncDispose]();
  expect(await running()).toBe(0);
  expect(await starts()).toHaveLength(1);
});

test("end after some time without questions, and start again", async () => {
  await ask("hover", { path: "a.txt", line: 1, column: 1 });
  clock.advance(IDLE_MS / 2);
  expect(await running()).toBe(1);
  clock.advance(IDLE_MS / 2);
  await expect.poll(() => running()).toBe(0);
  expect(await ask("hover", { path: "a.txt", line: 1, column: 1 })).toMatchObject({ isError: false });
  expect(await starts()).toHaveLength(2);
});

test("a crash is an error of the tool; the next question starts another, up to a limit", async () => {
  const crash = () => ask("hover", { path: "a.txt", line: 2, column: 1 });
  expect(await crash()).toEqual({
    isError: true,
    text: "The language server scripted failed: it ended with exit code 3 (stderr: out of luck). The next question starts it again.",
  });
  expect(await ask("hover", { path: "a.txt", line: 1, column: 1 })).toMatchObject({ isError: false });
  await crash();
  await crash();
  const last = await ask("hover", { path: "a.txt", line: 1, column: 1 });
  expect(last.text).toContain("that was failure 3. It is started again after 10 minutes.");
  expect(await starts()).toHaveLength(3);
  clock.advance(11 * 60_000);
  expect(await ask("hover", { path: "a.txt", line: 1, column: 1 })).toMatchObject({ isError: false });
  await servers.stop();
  expect(await running(), "and nothing of it is left").toBe(0);
});

test("output that is not in the protocol ends the server", async () => {
  expect((await ask("hover", { path: "a.txt", line: 4, column: 1 })).text).toContain("a header without a length");
  expect(await ask("hover", { path: "a.txt", line: 1, column: 1 })).toMatchObject({ isError: false });
});

test("a question without an answer ends in time, and so does an interrupted one", async () => {
  const interrupted = AbortSignal.abort();
  expect((await ask("hover", { path: "a.txt", line: 3, column: 1 }, interrupted)).text).toContain("it was interrupted");
  await servers.stop();
  mcpTimeout = 500;
  open();
  tools = (await servers.toolsFor(row()))!;
  expect((await ask("hover", { path: "a.txt", line: 3, column: 1 })).text).toContain("within 0.5 s");
  await ask("hover", { path: "a.txt", line: 1, column: 1 });
  expect(await starts(), "the server goes on").toHaveLength(2);
});

test("a program that is no language server is an error with the reason", async () => {
  await rm(join(folder, "a.txt"));
  await put("b.py", "");
  await mkdir(join(folder, ".venv/bin"), { recursive: true });
  await writeFile(join(folder, ".venv/bin/pyright-langserver"), "#!/bin/sh\necho no python >&2\nexit 1\n", {
    mode: 0o755,
  });
  clock.advance(61_000);
  tools = (await servers.toolsFor(row()))!;
  expect((await ask("diagnostics", { path: "b.py" })).text).toMatch(
    /^The language server python failed: it ended with exit code 1 \(stderr: no python\)\. Check that .*pyright-langserver runs/,
  );
});

test("files outside of the folder are refused, also through links", async () => {
  await writeFile(join(root, "secret.txt"), "secret");
  await symlink(join(root, "secret.txt"), join(folder, "link.txt"));
  for (const path of ["../secret.txt", join(root, "secret.txt"), "link.txt", "/etc/passwd", ".", "a\0.txt"]) {
    const { isError, text } = await ask("hover", { path, line: 1, column: 1 });
    expect({ path, isError, text: text.includes("secret:") }).toEqual({ path, isError: true, text: false });
  }
  const { text } = await ask("references", { path: "a.txt", line: 1, column: 1 });
  expect(text, "a place outside is named, its text not read").toBe("a.txt:1:1\n    one\n/etc/passwd:1:1");
});

test("unsuitable input is explained", async () => {
  const wrong: [string, object, string][] = [
    ["hover", { path: "a.txt" }, "line"],
    ["hover", { path: "a.txt", line: 99, column: 1 }, "The file has 5 lines."],
    ["hover", { path: "a.txt", line: 1 }, "`column` or `symbol` is missing."],
    ["hover", { path: "a.txt", line: 1, symbol: "two" }, "Line 1 does not contain two: one"],
    ["hover", { path: "none.txt", line: 1, column: 1 }, "There is no"],
    ["hover", { path: "a.go", line: 1, column: 1 }, "No language server is installed for .go."],
    ["symbols", {}, "`path` or `query` is missing."],
    ["symbols", { query: "x" }, "workspace/symbol is unknown here"],
  ];
  for (const [name, input, why] of wrong) {
    const { isError, text } = await ask(name, input);
    expect({ isError, text }).toEqual({ isError: true, text: expect.stringContaining(why) });
  }
});

test("reported diagnostics follow the disk, errors first; lines of files that a rule denies are left out", async () => {
  await put("b.txt", "WARN a\nBAD b\n");
  expect((await ask("diagnostics", { path: "b.txt" })).text).toBe(
    "b.txt:2:1 error scripted(E1): wrong: BAD b\n    BAD b\nb.txt:1:1 warning scripted(E1): wrong: WARN a\n    WARN a",
  );
  await put("b.txt", "fine\n");
  expect((await ask("diagnostics", { path: "b.txt" })).text).toBe("No errors or warnings.");
  denied = join(folder, "a.txt");
  expect((await ask("references", { path: "a.txt", line: 1, column: 1 })).text).toBe(
    "/etc/passwd:1:1\n1 in files that this session may not read without approval.",
  );
});

test("the errors that an edit adds are reported, if the server runs", async () => {
  const events: unknown[] = [];
  const edited = diagnoseEdit(folder, servers, (written) => events.push(...written), 60_000);
  const edit = async (path: string, before: string | null, after: string) => {
    await put(path, after);
    const input = { file_path: join(folder, path) };
    const call = { name: "Edit", input, toolUseId: "t", thread: null, signal: new AbortController().signal };
    return edited({ ...call, eventId: "sevt_1" as never, result: { originalFile: before } });
  };
  await put("b.txt", "BAD old\n");
  expect(await edit("b.txt", "BAD old\n", "BAD old\nBAD unseen\n"), "it does not start one").toEqual({});
  await ask("hover", { path: "a.txt", line: 1, column: 1 });
  expect(await edit("b.txt", "BAD old\n", "fine\nBAD old\nBAD new\n")).toEqual({
    context: "New errors after this edit (language server scripted):\nb.txt:3:1 error scripted(E1): wrong: BAD new",
  });
  expect(events).toEqual([
    {
      type: "tandem.diagnostics",
      event_id: "sevt_1",
      server: "scripted",
      total: 1,
      diagnostics: [{ path: "b.txt", line: 3, column: 1, message: "wrong: BAD new", code: "E1", source: "scripted" }],
    },
  ]);
  expect(await edit("b.txt", "", "BAD new\nBAD old\n"), "moved, not new").toEqual({});
  expect(await edit("c.txt", null, "WARN only\n"), "a warning is no error").toEqual({});
  expect(await edit("../out.txt", null, "BAD")).toEqual({});
  expect((await edit("d.txt", null, "BAD x\n".repeat(30))).context).toContain("… and 10 more.");
  expect(events.at(-1)).toMatchObject({ total: 30, diagnostics: { length: 20 } });
});
