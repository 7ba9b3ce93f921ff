import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";

test("login and logout run Claude Code's own on the same streams, with the user's variables", async () => {
  await using machine = await scratchMachine("llm: { claudeCode: { executable: ./project-choice } }");
  const claude = join(machine.project, "claude");
  await writeFile(claude, '#!/bin/sh\nread -r typed\necho "$@ | $CLAUDE_CONFIG_DIR | $MINE | $typed"\nexit 3\n');
  await chmod(claude, 0o755);
  const options = { stdin: "a code\n", env: { MINE: "yes" } };
  const login = await machine.runProcess(["login", "--console", "--claude-path", "claude"], options);
  const folder = machine.variables.CLAUDE_CONFIG_DIR;
  expect(login).toMatchObject({ code: 3, stdout: `auth login --console | ${folder} | yes | a code\n`, stderr: "" });
  const logout = await machine.runProcess(["logout", "--claude-path", "claude"], options);
  expect(logout).toMatchObject({ code: 3, stdout: `auth logout | ${folder} | yes | a code\n` });
});

test("without another choice it is the Claude Code that ships with Tandem", async () => {
  await using machine = await scratchMachine();
  // Without a login there is nothing to remove, and nothing reaches the network.
  const { code, stdout } = await machine.runProcess(["logout"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("Successfully logged out") });
});
