import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { reply, text, toolUse, type Script } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { AcpLines } from "../testing/acp-lines.ts";
import { outcomeOf } from "../testing/open-command.ts";
import { sessionMachine } from "../testing/session-machine.ts";
import { StdioProcess } from "../testing/stdio-process.ts";

const writes: Script = ({ toolResults: [result] }) =>
  result
    ? text(result.isError ? `Then not: ${result.text}` : "It is there.")
    : reply([toolUse("Bash", { command: "echo hello > hello.txt" })]);

const ON_A_TERMINAL = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

type Machine = Awaited<ReturnType<typeof sessionMachine>>;

/** Waits for a pending approval. */
async function pending(machine: Machine): Promise<string> {
  const list = async () => {
    const { stdout } = await machine.run(["approvals", "list", "--json"]);
    return (JSON.parse(stdout) as { approvals: { id: string }[] }).approvals[0]?.id;
  };
  await expect.poll(list, { interval: 200 }).toBeDefined();
  return (await list())!;
}

test("another command answers an editor's approval: the request is withdrawn and the turn continues", async () => {
  await using machine = await sessionMachine(writes);
  // The editor never answers.
  await using editor = new AcpLines(machine.open(["acp"]), () => undefined);
  await editor.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = (await editor.ask("session/new", { cwd: machine.project, mcpServers: [] })) as {
    sessionId: string;
  };
  const asked = editor.next(({ method }) => method === "session/request_permission");
  const turn = editor.ask("session/prompt", { sessionId, prompt: [{ type: "text", text: "Write it." }] });
  const { id: request } = await asked;
  const takenBack = editor.next(({ method }) => method === "$/cancel_request");

  const id = await pending(machine);
  const { code, stdout, stderr } = await machine.run(["approvals", "allow", id]);
  expect(stderr).toMatch(/^The agent continues in tandem acp on \S+ \(pid \d+\)\.\n$/);
  expect(stdout).toMatch(/answer\s+allowed by/);
  expect(code).toBe(0);

  expect(await takenBack).toMatchObject({ params: { requestId: request } });
  expect(await turn).toMatchObject({ stopReason: "end_turn" });
  expect(editor.said).toBe("It is there.");
  expect(await readFile(join(machine.project, "hello.txt"), "utf8")).toBe("hello\n");
});

test("the same with a stdio host", async () => {
  await using machine = await sessionMachine(writes);
  await using host = await StdioProcess.open(machine.open(["stdio"]));
  const tools = [{ type: "agent_toolset_20260401" }];
  const agent = await host.ask<{ id: string }>("agents.create", { name: "Helper", model: "sonnet", tools });
  const session = await host.ask<{ id: string }>("sessions.create", { agent: agent.id, environment_id: "env_local" });
  const stream = host.send("sessions.events.stream", { session_id: session.id });
  await host.until(({ id }) => id === stream);
  const message = { type: "user.message", content: [{ type: "text", text: "Write it." }] };
  await host.ask("sessions.events.send", { session_id: session.id, events: [message] });

  const id = await pending(machine);
  const { code, stderr } = await machine.run(["approvals", "deny", id, "--message", "Not today."]);
  expect(stderr).toMatch(/^The agent continues in tandem stdio on \S+ \(pid \d+\)\.\n$/);
  expect(code).toBe(0);

  const said = await host.event(stream, ({ type }) => type === "agent.message");
  expect(JSON.stringify(said)).toContain("Then not: Not today.");
  expect(existsSync(join(machine.project, "hello.txt"))).toBe(false);
});

test("the same while `tandem run` asks on a terminal", async () => {
  await using machine = await sessionMachine(writes);
  const child = machine.start(["run", "Write it."], { wrapper: ["python3", "-c", ON_A_TERMINAL] });
  const outcome = outcomeOf(child);
  const { code, stderr } = await machine.run(["approvals", "allow", await pending(machine)]);
  expect(stderr).toMatch(/^The agent continues in tandem run on \S+ \(pid \d+\)\.\n$/);
  expect(code).toBe(0);

  const run = await outcome;
  expect(run.stdout).toContain("Answered in another client.");
  expect(run.stdout).toContain("It is there.");
  expect(run.code).toBe(0);
});
