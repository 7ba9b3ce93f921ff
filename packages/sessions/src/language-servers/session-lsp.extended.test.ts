import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { project, type Session } from "@tandem/protocol";
import { reply, text, toolUse } from "@tandem/rehearsal";
import { knownWall } from "@tandem/sandbox";
import { isAlive } from "@tandem/workspace";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { ALLOW_ALL, setEngineStage, the, typesOf, type RunningEngine } from "../testing/engine-stage.ts";

// The TypeScript of this repository is a language server.
const TYPESCRIPT = dirname(fileURLToPath(import.meta.resolve("typescript/package.json")));
const SCRIPTED = fileURLToPath(import.meta.resolve("./testing/scripted-server.cjs"));
// On a busy machine, it takes seconds to check a file.
const LSP = { servers: [], idleMs: 600_000, editMs: 60_000 };

let isTrusted = true;
const trustOf = async (folder: string) => ({
  trusted: isTrusted,
  folder,
  since: null,
  state: isTrusted ? ("trusted" as const) : ("untrusted" as const),
});

const stage = await setEngineStage();
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(async () => {
  isTrusted = true;
  await put(
    "tsconfig.json",
    '{ "compilerOptions": { "strict": true, "noEmit": true, "types": [] }, "include": ["src"] }',
  );
  await put("src/sum.ts", "/** Adds. */\nexport function sum(a: number, b: number): number {\n  return a + b;\n}\n");
  await put(
    "src/use.ts",
    'import { sum } from "./sum";\n\nexport const three: number = sum(1, 2);\nexport const bad: string = sum(1, 2);\n',
  );
  await mkdir(join(stage.folder, "node_modules/.bin"), { recursive: true });
  await symlink(join(TYPESCRIPT, "bin/tsc"), join(stage.folder, "node_modules/.bin/tsc")).catch(() => undefined);
});

async function put(path: string, content: string): Promise<void> {
  await mkdir(dirname(join(stage.folder, path)), { recursive: true });
  await writeFile(join(stage.folder, path), content);
}

const lsp = (tool: string, input: object) => toolUse(`mcp__lsp__${tool}`, { ...input });

/** The results of the calls of one turn. */
async function results(running: RunningEngine, session: Session, calls: readonly ReturnType<typeof toolUse>[]) {
  stage.rehearsal.use([reply([...calls]), text("done")]);
  const events = await running.turn(session, "Go.");
  const said = new Map(
    events.flatMap(({ event }) =>
      event.type === "agent.mcp_tool_result" ? [[event.mcp_tool_use_id, textOf(event.content)] as const] : [],
    ),
  );
  // They run at the same time.
  return events.flatMap(({ event }) => (event.type === "agent.mcp_tool_use" ? [said.get(event.id)] : []));
}

const textOf = (content: readonly { type: string; text?: string }[] = []): string =>
  content.map(({ text: words }) => words).join("");

/** Returns the processes that are left in the end. */
async function useAllTools(running: RunningEngine): Promise<number[]> {
  const session = await running.session({}, ALLOW_ALL);
  expect(
    await results(running, session, [
      lsp("diagnostics", { path: "src/use.ts" }),
      lsp("definition", { path: join(stage.folder, "src/use.ts"), line: 3, symbol: "sum" }),
      lsp("references", { path: "src/sum.ts", line: 2, column: 17 }),
      lsp("hover", { path: "src/use.ts", line: 3, symbol: "sum" }),
      lsp("symbols", { path: "src/use.ts" }),
      lsp("symbols", { query: "sum" }),
    ]),
  ).toEqual([
    "src/use.ts:4:14 error ts(2322): Type 'number' is not assignable to type 'string'.\n    export const bad: string = sum(1, 2);",
    "src/sum.ts:2:17\n    export function sum(a: number, b: number): number {",
    expect.stringContaining("src/use.ts:3:30\n    export const three: number = sum(1, 2);"),
    expect.stringMatching(/function sum\(a: number, b: number\): number[\s\S]*Adds\./),
    expect.stringContaining("src/use.ts:4:14 variable bad"),
    "src/sum.ts:2:17 function sum\n    export function sum(a: number, b: number): number {",
  ]);

  const path = join(stage.folder, "src/sum.ts");
  const edit = toolUse("Edit", { file_path: path, old_string: "b: number)", new_string: "b: string)" });
  stage.rehearsal.use([toolUse("Read", { file_path: path }), edit, text("done")]);
  const events = await running.turn(session, "Change it.");
  const call = events.find(({ event }) => event.type === "agent.tool_use" && event.name === "Edit")!.event;
  const found = the(events, "tandem.diagnostics");
  expect(found).toMatchObject({ event_id: call.id, server: "typescript", total: found.diagnostics.length });
  expect(found.diagnostics).toContainEqual({
    path: "src/use.ts",
    line: 3,
    column: 37,
    code: "2345",
    source: "ts",
    message: "Argument of type 'number' is not assignable to parameter of type 'string'.",
  });
  expect(
    found.diagnostics.map((each) => each.path),
    "the error that was there before is not new",
  ).not.toContain("bad");
  expect(JSON.stringify(stage.rehearsal.modelRequests.at(-1)!.body)).toContain(
    "New errors after this edit (language server typescript)",
  );
  const part = project(events)
    .flatMap(({ parts }) => parts)
    .find(({ id }) => id === call.id);
  expect(part).toMatchObject({
    state: { type: "completed" },
    diagnostics: { total: found.total, items: found.diagnostics },
  });

  const undo = toolUse("Edit", { file_path: path, old_string: "b: string)", new_string: "b: number)" });
  stage.rehearsal.use([undo, text("done")]);
  expect(typesOf(await running.turn(session, "Undo it."))).not.toContain("tandem.diagnostics");

  // Files that a shell command writes are noticed, too.
  const command = `echo 'import { sum } from "./sum"; export const s: string = sum(1, 2);' > src/new.ts`;
  stage.rehearsal.use([
    toolUse("Bash", { command }),
    lsp("references", { path: "src/sum.ts", line: 2, column: 17 }),
    text("done"),
  ]);
  expect(JSON.stringify(the(await running.turn(session, "Look."), "agent.mcp_tool_result"))).toContain("src/new.ts:1:");
  await running.engine.sessions.archive(session.id);
  return stage.processes();
}

test("every tool answers from a real TypeScript server, and an edit reports the errors that it adds", async () => {
  await using stack = new AsyncDisposableStack();
  const running = await stage.open({ trustOf, lsp: LSP, sandbox: { mode: "off" } });
  stack.defer(() => running.stop());
  expect(await useAllTools(running)).toEqual([]);
});

const wall = knownWall(process.env);
describe.skipIf(!wall.on)(`in a sandbox${wall.on ? "" : ` (${wall.reason})`}`, () => {
  test("they do the same", async () => {
    const mounts = [{ path: dirname(TYPESCRIPT), write: false }];
    const running = await stage.open({ trustOf, lsp: LSP, sandbox: { mode: "require", mounts } });
    expect(await useAllTools(running)).toEqual([]);
    await running.stop();
  });
});

test("without trust, or switched off, there are no such tools", async () => {
  const offered = async (running: RunningEngine): Promise<string[]> => {
    stage.rehearsal.use([text("done")]);
    const session = await running.session({}, ALLOW_ALL);
    await running.turn(session, "Go.");
    await running.stop();
    return stage.rehearsal.modelRequests.at(-1)!.toolNames.filter((name) => name.startsWith("mcp__lsp"));
  };
  expect(await offered(await stage.open({ trustOf }))).toEqual([]);
  isTrusted = false;
  expect(await offered(await stage.open({ trustOf, lsp: LSP }))).toEqual([]);
});

test("a process started ahead has the tools, too", async () => {
  const running = await stage.open({ trustOf, lsp: LSP, spareProcesses: { count: 1, keepMs: 3_600_000 } });
  const { id: agent } = await running.engine.agents.create({ name: "tester", model: "sonnet", ...ALLOW_ALL });
  const create = () => running.engine.sessions.create({ agent, environment_id: "env_local" });
  stage.rehearsal.use([text("done")]);
  const first = await create();
  await running.turn(first, "Go.");
  await running.engine.sessions.archive(first.id);
  await expect.poll(() => stage.processes()).toHaveLength(1);
  const [ahead] = await stage.processes();
  const second = await create();
  expect(await results(running, second, [lsp("hover", { path: "src/use.ts", line: 3, symbol: "three" })])).toEqual([
    expect.stringContaining("three: number"),
  ]);
  expect(await stage.processes()).toContain(ahead);
  await running.stop();
});

test("if the server process is killed, its language servers end with it", async () => {
  const log = join(stage.root, "starts");
  const servers = [{ name: "scripted", command: [SCRIPTED, log], extensions: [".ts"], languageId: "text" }];
  stage.rehearsal.use([lsp("hover", { path: "src/sum.ts", line: 2, column: 1 }), text("done")]);
  const { process: child } = await stage.spawn(ALLOW_ALL, "Go.", {
    isTrusted: true,
    settings: { lsp: { servers, idleMs: 600_000 } },
  });
  await expect.poll(() => readFile(log, "utf8").catch(() => "")).toContain("start");
  const ledger = join(stage.root, "state", "processes");
  const entries = await Promise.all((await readdir(ledger)).map(async (name) => readFile(join(ledger, name), "utf8")));
  const pids = entries.flatMap((entry) => [...entry.matchAll(/"pid":(\d+)/g)].map(([, pid]) => Number(pid)));
  expect(pids.length).toBeGreaterThanOrEqual(2);
  child.kill("SIGKILL");
  await expect.poll(() => pids.filter(isAlive)).toEqual([]);
});
