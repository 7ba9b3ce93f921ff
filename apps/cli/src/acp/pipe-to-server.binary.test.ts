import { text, toolUse } from "@tandem/rehearsal";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { AcpLines } from "../testing/acp-lines.ts";
import { sessionMachine } from "../testing/session-machine.ts";

test("a running server is the editor's agent, also after a restart; without one, tandem acp is the agent", async () => {
  await using machine = await sessionMachine([]);
  const file = join(machine.project, "through-the-pipe.txt");
  machine.rehearsal.use([toolUse("Write", { file_path: file, content: "x" }), text("Written."), text("Again.")]);

  const first = await machine.up();
  await using editor = new AcpLines(machine.open(["acp"]), ({ options }) => options[0]!.optionId);
  expect(await editor.ask("initialize", { protocolVersion: 1 })).toMatchObject({ agentInfo: { name: "tandem" } });
  const { sessionId } = (await editor.ask("session/new", { cwd: machine.project, mcpServers: [] })) as {
    sessionId: string;
  };
  const prompt = [{ type: "text", text: "Write it." }];
  expect(await editor.ask("session/prompt", { sessionId, prompt })).toMatchObject({ stopReason: "end_turn" });
  expect(existsSync(file)).toBe(true);
  // The server holds the session. The `tandem acp` process has not opened the store.
  const listed = await fetch(`${first.url}/v1/sessions`, { headers: { "x-api-key": first.token } });
  expect(JSON.stringify(await listed.json())).toContain(sessionId);

  await first.stop();
  await expect(editor.ask("session/prompt", { sessionId, prompt })).rejects.toThrow(/has stopped.*tandem up/);

  await using _ = await machine.up();
  expect(await editor.ask("session/prompt", { sessionId, prompt })).toMatchObject({ stopReason: "end_turn" });
  expect(editor.said).toContain("Again.");

  // In a folder outside the server's roots, the command itself is the agent.
  await using elsewhere = new AcpLines(machine.open(["acp"], { cwd: "../tmp" }), () => "reject");
  await elsewhere.ask("initialize", { protocolVersion: 1 });
  const own = (await elsewhere.ask("session/new", { cwd: machine.variables.TMPDIR, mcpServers: [] })) as {
    sessionId: string;
  };
  expect(own.sessionId).not.toBe(sessionId);
});
