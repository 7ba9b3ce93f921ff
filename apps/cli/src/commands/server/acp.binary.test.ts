import { slowly, text, type ModelRequest, type Reply } from "@tandem/rehearsal";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir } from "node:fs/promises";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { isRunning } from "@tandem/tandem/testing";
import { TANDEM } from "../../testing/run-tandem.ts";
import { sessionMachine } from "../../testing/session-machine.ts";

interface Line {
  id?: number | null;
  method?: string;
  result?: { sessionId?: string; stopReason?: string };
  error?: { code: number; message: string };
}

const parrot = ({ lastUserText }: ModelRequest): Reply =>
  lastUserText.includes("slow")
    ? slowly(text("word ".repeat(2_000)), { tokenMs: 50 })
    : text(`You said: ${lastUserText}`);

/** Exchanges JSON lines with an agent. */
function talk(child: ReturnType<typeof spawn>) {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  createInterface({ input: child.stdout! }).on("line", (line) => {
    lines.push(line);
    for (const look of waiting) look();
  });
  const until = (fits: (line: Line) => boolean) =>
    new Promise<Line>((resolve) => {
      const look = (): void => {
        const found = lines.map((line) => JSON.parse(line) as Line).find(fits);
        if (!found) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      look();
    });
  const write = (line: string): void => void child.stdin!.write(`${line}\n`);
  let last = 0;
  return {
    lines,
    until,
    write,
    ask(method: string, params: unknown): Promise<Line> {
      last += 1;
      const id = last;
      write(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      return until((line) => line.id === id && line.method === undefined);
    },
  };
}

const INITIALIZE = { protocolVersion: 1, clientCapabilities: {} };

describe("tandem acp", () => {
  test("answers invalid input with an error, keeps running, and writes only protocol messages", async () => {
    await using machine = await sessionMachine(parrot);
    const child = machine.start(["acp"]);
    const agent = talk(child);
    agent.write("this is no JSON");
    expect(await agent.until(({ id }) => id === null)).toMatchObject({ error: { code: -32700 } });
    agent.write("[1, 2]");
    expect(await agent.until(({ error }) => error?.code === -32600)).toMatchObject({ id: null });
    expect(await agent.ask("initialize", INITIALIZE)).toMatchObject({
      result: { protocolVersion: 1, agentInfo: { name: "tandem" }, authMethods: [{ id: "claude-code" }] },
    });
    const refusals: [method: string, params: unknown, code: number, words: string][] = [
      ["session/dance", {}, -32601, "dance"],
      ["session/new", { cwd: "relative", mcpServers: [] }, -32602, "absolute"],
      ["session/new", { cwd: machine.folder.join("nowhere"), mcpServers: [] }, -32602, "there is no folder"],
      ["session/new", {}, -32602, ""],
      ["session/load", { sessionId: "sesn_none", cwd: machine.project, mcpServers: [] }, -32002, "sesn_none"],
      ["session/prompt", { sessionId: "sesn_none", prompt: [{ type: "text", text: "hi" }] }, -32002, "not open here"],
      ["logout", {}, -32601, ""],
    ];
    for (const [method, params, code, words] of refusals) {
      const { error } = await agent.ask(method, params);
      expect(error, method).toMatchObject({ code, message: expect.stringContaining(words) });
    }
    const other = machine.folder.join("other");
    await mkdir(other);
    const { result } = await agent.ask("session/new", { cwd: other, mcpServers: [] });
    const prompt = { sessionId: result!.sessionId, prompt: [{ type: "text", text: "hello" }] };
    expect(await agent.ask("session/prompt", prompt)).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(
      await agent.ask("session/prompt", { ...prompt, prompt: [{ type: "text", text: "/nothing" }] }),
    ).toMatchObject({ error: { code: -32602, message: expect.stringContaining("There is no command /nothing") } });
    const path = { ...prompt, prompt: [{ type: "text", text: "/tmp is full" }] };
    expect(await agent.ask("session/prompt", path)).toMatchObject({ result: { stopReason: "end_turn" } });
    expect(machine.rehearsal.modelRequests.at(-1)!.lastUserText).toContain("/tmp is full");
    child.stdin!.end();
    const [code] = (await once(child, "exit")) as [number];
    expect(code).toBe(0);
    expect(agent.lines.every((line) => line.startsWith('{"jsonrpc":"2.0"'))).toBe(true);
    expect(await readdir(`${machine.variables.TANDEM_HOME}/processes`)).toEqual([]);
  });

  test("leaves no process behind if the editor is killed during a turn", async () => {
    await using machine = await sessionMachine(parrot);
    // The editor runs in its own process and holds the other ends of the pipes.
    const editor = spawn(process.execPath, ["--input-type=module", "--eval", EDITOR, TANDEM, machine.project], {
      cwd: machine.project,
      env: { ...machine.variables, SESSION_KEY: "sk-ant-made-up" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: editor.stdout }), "line")) as [string];
    const agent = Number(line);
    await machine.rehearsal.waitForModelRequest(({ lastUserText }) => lastUserText.includes("slow"));
    const ledger = `${machine.variables.TANDEM_HOME}/processes`;
    const claude = (await readdir(ledger)).map((name) => Number.parseInt(name, 10));
    expect(claude).toHaveLength(1);
    expect([agent, ...claude].every(isRunning)).toBe(true);
    editor.kill("SIGKILL");
    await expect.poll(() => [agent, ...claude].filter(isRunning)).toEqual([]);
    expect(await readdir(ledger)).toEqual([]);
    // The session is stored.
    const { stdout } = await machine.run(["sessions", "list", "--json"]);
    expect(stdout).toContain('"idle"');
  });
});

const EDITOR = `
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
const [tandem, cwd] = process.argv.slice(1);
const agent = spawn(process.execPath, [tandem, "acp"], { stdio: ["pipe", "pipe", "inherit"] });
const send = (id, method, params) => agent.stdin.write(JSON.stringify({ jsonrpc: "2.0", id, method, params }) + "\\n");
createInterface({ input: agent.stdout }).on("line", (line) => {
  const { id, result } = JSON.parse(line);
  if (id === 1) send(2, "session/new", { cwd, mcpServers: [] });
  if (id === 2) send(3, "session/prompt", { sessionId: result.sessionId, prompt: [{ type: "text", text: "slow" }] });
});
send(1, "initialize", { protocolVersion: 1 });
console.log(agent.pid);
`;
