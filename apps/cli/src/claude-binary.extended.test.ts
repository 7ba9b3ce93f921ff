import { findExecutable } from "@tandem/claude-code";
import { always, text } from "@tandem/rehearsal";
import { existsSync } from "node:fs";
import { chmod, readFile, rm, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { AcpLines } from "./testing/acp-lines.ts";
import { sessionMachine } from "./testing/session-machine.ts";

/** Each test starts several commands and Claude Code processes. */

/** A machine with the real Claude Code behind a wrapper that records each start. */
async function machineWithClaude() {
  const machine = await sessionMachine([always(text("Hello."))], "  provider: { backend: claude-code }\n");
  // The wrapper writes outside of the session's folder.
  const config = await readFile(`${machine.project}/tandem.yaml`, "utf8");
  await machine.configure(`${config}sandbox: { mode: off }\n`);
  await machine.trust();
  const word = machine.folder.join("started");
  const program = async (name: string, script: string, mode = 0o755): Promise<string> => {
    const file = machine.folder.join(name);
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, mode);
    return file;
  };
  const path = await program("claude", `[ "$1" = --version ] || touch '${word}'\nexec '${findExecutable()}' "$@"`);
  return {
    ...machine,
    path,
    program,
    /** True if it has run since the last call. */
    async hasRun(): Promise<boolean> {
      const ran = existsSync(word);
      await rm(word, { force: true });
      return ran;
    },
  };
}

test("calls and sessions run the named Claude Code", async () => {
  await using machine = await machineWithClaude();
  const named = ["--claude-path", machine.path];
  expect(await machine.run([...named, "text", "Hello?"])).toMatchObject({ code: 0, stdout: "Hello.\n" });
  expect(await machine.hasRun()).toBe(true);
  expect(await machine.run(["run", "Hello?", ...named])).toMatchObject({ code: 0 });
  expect(await machine.hasRun()).toBe(true);
});

test("an ACP agent runs it", async () => {
  await using machine = await machineWithClaude();
  await using editor = new AcpLines(machine.open(["acp", "--claude-path", machine.path]), () => "");
  await editor.ask("initialize", { protocolVersion: 1, clientCapabilities: {} });
  const session = (await editor.ask("session/new", { cwd: machine.project, mcpServers: [] })) as { sessionId: string };
  const prompt = [{ type: "text", text: "Hello?" }];
  expect(await editor.ask("session/prompt", { ...session, prompt })).toMatchObject({ stopReason: "end_turn" });
  expect(await machine.hasRun()).toBe(true);
});

test("a server runs it, and a command with another choice does not use the server", async () => {
  await using machine = await machineWithClaude();
  await using _ = await machine.up("--claude-path", machine.path);
  expect(await machine.run(["run", "Hello?"])).toMatchObject({ code: 0 });
  expect(await machine.hasRun()).toBe(true);
  expect(await machine.run(["run", "Hello?", "--claude-path", findExecutable()])).toMatchObject({ code: 0 });
  expect(await machine.hasRun()).toBe(false);
});

test("the option's path is relative to the current folder, the setting's to the trusted config", async () => {
  await using machine = await machineWithClaude();
  expect(await machine.run(["--claude-path", "../claude", "text", "Hello?"])).toMatchObject({ code: 0 });
  expect(await machine.hasRun()).toBe(true);
  const config = await readFile(`${machine.project}/tandem.yaml`, "utf8");
  await machine.configure(config.replace("auth: api_key", "auth: api_key, executable: ../claude"));
  expect(await machine.run(["text", "Hello?"])).toMatchObject({ code: 2, stderr: expect.stringContaining("trust") });
  expect(await machine.hasRun()).toBe(false);
  await machine.trust();
  expect(await machine.run(["text", "Hello?"])).toMatchObject({ code: 0 });
  expect(await machine.hasRun()).toBe(true);
});

test("a missing, outdated or foreign binary is rejected before any work starts", async () => {
  await using machine = await machineWithClaude();
  const old = await machine.program("old", "echo '1.0.0 (Claude Code)'");
  const other = await machine.program("other", "echo hello");
  const closed = await machine.program("closed", "true", 0o644);
  const cases: [path: string, words: RegExp][] = [
    [machine.folder.join("nowhere"), /There is no Claude Code binary at .*nowhere/],
    [old, /is Claude Code 1\.0\.0; Tandem needs 2\.1\.325 or newer[\s\S]*claude update/],
    [other, /is not Claude Code[\s\S]*--claude-path/],
    [closed, /may not be executed/],
  ];
  for (const [path, words] of cases) {
    const outcome = await machine.run(["--claude-path", path, "run", "Hello?"]);
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringMatching(words) });
  }
  expect(await machine.run(["--claude-path", old, "text", "Hello?"])).toMatchObject({ code: 2 });
  expect(machine.rehearsal.modelRequests).toEqual([]);
});

test("status and doctor show the binary and whether it was tested", async () => {
  await using machine = await machineWithClaude();
  const newer = await machine.program("newer", "echo '99.0.0 (Claude Code)'");
  const status = async (...args: string[]) => {
    const { stdout } = await machine.run([...args, "status", "--json"]);
    return (JSON.parse(stdout) as { claude_code: unknown }).claude_code;
  };
  expect(await status()).toMatchObject({ bundled: true, version: "2.1.325" });
  expect(await status("--claude-path", machine.path)).toEqual({
    bundled: false,
    version: "2.1.325",
    path: machine.path,
  });
  expect(await status("--claude-path", newer)).toMatchObject({ version: "99.0.0", warning: expect.any(String) });
  expect(await status("--claude-path", "nowhere")).toMatchObject({
    problem: expect.any(String),
    fix: expect.any(String),
  });
  const { stdout } = await machine.run(["--claude-path", newer, "doctor"]);
  expect(stdout).toMatch(/warning +claude code +Claude Code 99\.0\.0 is newer than 2\.1\.325/);
});
