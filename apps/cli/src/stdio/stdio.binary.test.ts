import { reply, text, toolUse, type Script } from "@tandem/rehearsal";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, describe, expect, test } from "vitest";
import { isRunning } from "@tandem/tandem/testing";
import { pipesOf } from "../testing/open-command.ts";
import { TANDEM } from "../testing/run-tandem.ts";
import { sessionMachine } from "../testing/session-machine.ts";
import { StdioProcess } from "../testing/stdio-process.ts";
import { processesIn } from "../testing/process-stats.ts";

const writes: Script = ({ toolResults: [result] }) =>
  result
    ? text(result.isError ? "Then not." : "It is there.")
    : reply([text("I write it."), toolUse("Bash", { command: "echo hello > hello.txt" })]);

/** A long-running command. Claude Code rejects a plain sleep. */
const waits: Script = ({ toolResults: [result] }) =>
  result ? text("Done.") : reply([toolUse("Bash", { command: "tail -F /dev/null", timeout: 600_000 })]);

type Machine = Awaited<ReturnType<typeof sessionMachine>>;
let machine: Machine;
afterEach(() => machine[Symbol.asyncDispose]());

async function openSession(host: StdioProcess, tools: unknown[] = [{ type: "agent_toolset_20260401" }]) {
  const agent = await host.ask<{ id: string }>("agents.create", { name: "Helper", model: "sonnet", tools });
  const session = await host.ask<{ id: string }>("sessions.create", { agent: agent.id, environment_id: "env_local" });
  return session.id;
}

const message = (words: string) => ({ type: "user.message", content: [{ type: "text", text: words }] });
const allow = (id: unknown) => ({ type: "user.tool_confirmation", tool_use_id: id, result: "allow" });

/** Runs a turn that waits for the host's approval, until it is idle. */
async function driveTurn(host: StdioProcess, session: string): Promise<string[]> {
  const stream = host.send("sessions.events.stream", { session_id: session, event_deltas: ["agent.message"] });
  await host.until(({ id }) => id === stream);
  await host.ask("sessions.events.send", { session_id: session, events: [message("Write hello.txt.")] });
  const use = await host.event(stream, ({ type }) => type === "agent.tool_use");
  expect(use).toMatchObject({ name: "Bash", evaluated_permission: "ask" });
  await host.event(stream, ({ type, stop_reason }) => type === "session.status_idle" && isWaiting(stop_reason));
  await host.ask("sessions.events.send", { session_id: session, events: [allow(use["id"])] });
  await host.event(stream, ({ type, stop_reason }) => type === "session.status_idle" && !isWaiting(stop_reason));
  await host.ask("cancel", { id: stream });
  return host.lines
    .filter((line) => line["stream"] === stream && "event" in line)
    .map((line) => (line["event"] as { type: string }).type);
}

const isWaiting = (reason: unknown): boolean => (reason as { type: string }).type === "requires_action";

describe("a host with its own engine", () => {
  test("runs a turn with previews, an approval and files, all valid by the published schema", async () => {
    machine = await sessionMachine(writes);
    await using host = await StdioProcess.open(machine.open(["stdio"]));
    expect(host.lines[0]).toMatchObject({ hello: { engine: "own" } });
    const session = await openSession(host);
    const types = await driveTurn(host, session);
    expect(types).toEqual(expect.arrayContaining(["event_start", "event_delta", "agent.message", "agent.tool_result"]));
    expect(readFileSync(join(machine.project, "hello.txt"), "utf8")).toBe("hello\n");

    const content = Buffer.from([0, 255, 10, 13, 7]).toString("base64");
    const file = await host.ask<{ id: string }>("files.upload", { filename: "a b.bin", content });
    expect(await host.ask("files.download", { file_id: file.id })).toEqual({
      filename: "a b.bin",
      mime_type: "application/octet-stream",
      size_bytes: 5,
      content,
    });
    // Call every list method: each response is validated by its schema.
    for (const method of ["agents.list", "environments.list", "sessions.list", "files.list", "models.list"]) {
      await host.ask(
        method,
        method === "sessions.list" ? { statuses: ["idle"], limit: 5, include_archived: true } : {},
      );
    }
    for (const method of ["approvals.list", "rules.list", "budgets.list", "worktrees.list", "mcp_servers.list"]) {
      await host.ask(method);
    }
    for (const method of ["usage.list", "audit.list", "audit.verify", "emergency.state", "openapi.retrieve"]) {
      await host.ask(method);
    }
    for (const method of [
      "sessions.retrieve",
      "sessions.events.list",
      "sessions.messages.list",
      "sessions.threads.list",
    ]) {
      await host.ask(method, { session_id: session });
    }
    await host.ask("sessions.files.read", { session_id: session, path: "hello.txt" });
    await host.ask("sessions.diff", { session_id: session });
    const { code, stderr, stdout } = await host.end();
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const line of stdout.trimEnd().split("\n")) expect(JSON.parse(line)).toBeTypeOf("object");
    expect(host.faults).toEqual([]);
    expect(processesIn(machine.folder.path)).toEqual([]);
  });

  test("disconnects during a turn: the turn ends, and no process remains", async () => {
    machine = await sessionMachine(waits);
    await using host = await StdioProcess.open(machine.open(["stdio"]));
    const session = await openSession(host);
    const stream = host.send("sessions.events.stream", { session_id: session });
    await host.ask("sessions.events.send", { session_id: session, events: [message("Wait.")] });
    const use = await host.event(stream, ({ type }) => type === "agent.tool_use");
    await host.event(stream, ({ type }) => type === "session.status_idle");
    await host.ask("sessions.events.send", { session_id: session, events: [allow(use["id"])] });
    await expect.poll(() => commandsIn(machine.folder.path)).toContain("tail");
    const { code } = await host.end();
    expect(code).toBe(0);
    expect(processesIn(machine.folder.path)).toEqual([]);

    // The next client finds the session idle with a complete log.
    await using next = await StdioProcess.open(machine.open(["stdio"]));
    expect(await next.ask("sessions.retrieve", { session_id: session })).toMatchObject({ status: "idle" });
    await next.end();
  });

  test("a signal stops it cleanly", async () => {
    machine = await sessionMachine(writes);
    const child = machine.start(["stdio"]);
    await using host = await StdioProcess.open(pipesOf(child));
    const session = await openSession(host);
    const stream = host.send("sessions.events.stream", { session_id: session });
    await host.ask("sessions.events.send", { session_id: session, events: [message("Write.")] });
    await host.event(stream, ({ type }) => type === "session.status_idle");
    child.kill("SIGTERM");
    expect(await host.outcome).toMatchObject({ code: 0, stderr: "" });
    expect(host.lines.at(-1)).toMatchObject({ stream, end: {} });
    expect(processesIn(machine.folder.path)).toEqual([]);
  });

  test.each([
    ["its pipes are closed", false],
    ["another process holds its pipes open", true],
  ])("a host that is killed leaves nothing behind: %s", async (_name, isHeld) => {
    machine = await sessionMachine(waits);
    await writeFile(machine.folder.join("host.mjs"), HOST);
    const host = spawn(process.execPath, [machine.folder.join("host.mjs"), TANDEM, String(isHeld)], {
      cwd: machine.project,
      env: { ...machine.variables, SESSION_KEY: "sk-ant-made-up" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: host.stdout }), "line")) as [string];
    const { tandem, holder } = JSON.parse(line) as { tandem: number; holder: number | null };
    try {
      await expect.poll(() => commandsIn(machine.folder.path)).toContain("tail");
      host.kill("SIGKILL");
      await expect.poll(() => isRunning(tandem)).toBe(false);
      await expect.poll(() => processesIn(machine.folder.path).filter(isRunning)).toEqual([]);
      if (holder !== null) expect(isRunning(holder)).toBe(true);
    } finally {
      host.kill("SIGKILL");
      if (holder !== null) process.kill(holder, "SIGKILL");
    }
  });

  test("a rejected start is one line and one message", async () => {
    machine = await sessionMachine(writes);
    await machine.configure("llm: { backend: nonsense }\n");
    const { code, stdout, stderr } = await machine.run(["stdio"]);
    expect(code).not.toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id: null, error: { type: expect.any(String), status: 503 } });
    expect(stderr).not.toBe("");
  });
});

describe("with a running server on the same database", () => {
  test("it serves the same methods, and its end is reported", async () => {
    machine = await sessionMachine(writes);
    await using server = await machine.up();
    await using host = await StdioProcess.open(machine.open(["stdio"]));
    expect(host.lines[0]).toMatchObject({ hello: { engine: "server" } });
    const session = await openSession(host);
    expect(await driveTurn(host, session)).toEqual(expect.arrayContaining(["event_delta", "agent.tool_result"]));
    const seen = await fetch(`${server.url}/v1/sessions/${session}`, { headers: { "x-api-key": server.token } });
    expect(await seen.json()).toMatchObject({ id: session, status: "idle" });
    await expect(host.ask("sessions.retrieve", { session_id: "sesn_none" })).rejects.toThrow("There is no session");
    const stream = host.send("feed.stream");
    await host.until((line) => line["stream"] === stream);
    await server.stop();
    await host.until((line) => line["stream"] === stream && "end" in line);
    await expect(host.ask("agents.list")).rejects.toThrow("cannot be reached");
    expect((await host.end()).code).toBe(0);
    expect(host.faults).toEqual([]);
  });
});

test("prints the schema", async () => {
  machine = await sessionMachine(writes);
  const { stdout } = await machine.run(["stdio", "--schema"]);
  expect(JSON.parse(stdout)).toMatchObject({ $defs: { "Request.sessions.create": { type: "object" } } });
});

/** Runs Tandem until a command starts, reports that, and waits to be killed. */
const HOST = `
  import { spawn } from "node:child_process";
  import { once } from "node:events";
  import { createInterface } from "node:readline";
  const [tandemPath, isHeld] = process.argv.slice(2);
  const tandem = spawn(process.execPath, [tandemPath, "stdio"], { stdio: ["pipe", "pipe", "ignore"] });
  const lines = createInterface({ input: tandem.stdout });
  const waiting = [];
  lines.on("line", (text) => {
    const line = JSON.parse(text);
    for (const wait of waiting) if (wait.fits(line)) wait.resolve(line);
  });
  const until = (fits) => new Promise((resolve) => waiting.push({ fits, resolve }));
  let last = 0;
  const ask = async (method, params) => {
    const id = ++last;
    const answered = until((line) => line.id === id);
    tandem.stdin.write(JSON.stringify({ id, method, params }) + "\\n");
    return (await answered).result;
  };
  await ask("hello", { protocol: 1 });
  const agent = await ask("agents.create", { name: "a", model: "sonnet", tools: [{ type: "agent_toolset_20260401" }] });
  const { id } = await ask("sessions.create", { agent: agent.id, environment_id: "env_local" });
  await ask("sessions.events.stream", { session_id: id });
  const use = until((line) => line.event?.type === "agent.tool_use");
  const idle = until((line) => line.event?.type === "session.status_idle");
  const content = [{ type: "text", text: "Wait." }];
  await ask("sessions.events.send", { session_id: id, events: [{ type: "user.message", content }] });
  const confirmation = { type: "user.tool_confirmation", tool_use_id: (await use).event.id, result: "allow" };
  await idle;
  await ask("sessions.events.send", { session_id: id, events: [confirmation] });
  const stdio = [tandem.stdin, tandem.stdout, "ignore"];
  const holder = isHeld === "true" ? spawn("tail", ["-f", "/dev/null"], { cwd: "/", detached: true, stdio }) : null;
  console.log(JSON.stringify({ tandem: tandem.pid, holder: holder?.pid ?? null }));
  setInterval(() => {}, 1_000);
`;

/** The names of the processes of a test. */
function commandsIn(folder: string): string[] {
  return processesIn(folder).flatMap((pid) => {
    const file = `/proc/${pid}/comm`;
    return existsSync(file) ? [readFileSync(file, "utf8").trim()] : [];
  });
}
