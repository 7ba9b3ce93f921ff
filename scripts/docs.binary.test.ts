import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { text, toolUse } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { outcomeOf } from "../apps/cli/src/testing/open-command.ts";
import { sessionMachine } from "../apps/cli/src/testing/session-machine.ts";
import { processesIn } from "../apps/cli/src/testing/process-stats.ts";

// Imported so that their types are checked.
export type * from "../docs/examples/custom-tool.ts";
export type * from "../docs/examples/embed-server.ts";
export type * from "../docs/examples/managed-agent.ts";

const root = join(import.meta.dirname, "..");

/** Runs an example as a user would, and returns the lines that it prints. */
async function linesOf(example: string, env: Record<string, string>, cwd = root): Promise<string[]> {
  const child = spawn(process.execPath, [join(root, "docs/examples", example)], { env, cwd });
  const { code, stdout, stderr } = await outcomeOf(child);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.trim().split("\n");
}

test("the example with a custom tool runs with only two variables set", async () => {
  await using machine = await sessionMachine(({ toolResults: [result] }) =>
    result ? text(`Take one: ${result.text}.`) : toolUse("mcp__tandem__weather", { city: "Bern" }),
  );
  await using server = await machine.up();
  const variables = { ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: server.token };
  expect(await linesOf("custom-tool.ts", { ...machine.variables, ...variables })).toEqual([
    "ran weather",
    expect.stringContaining("Take one: 8 degrees and rain in Bern."),
  ]);
});

test("the example that embeds a server runs unchanged and leaves nothing running", async () => {
  await using machine = await sessionMachine(() => text("The Aare."));
  const variables = { ...machine.variables, SESSION_KEY: "sk-ant-made-up" };
  expect(await linesOf("embed-server.ts", variables, machine.project)).toEqual(["The Aare."]);
  expect(processesIn(machine.variables.TANDEM_HOME)).toEqual([]);
  expect(existsSync(join(machine.variables.TANDEM_HOME, "server.json"))).toBe(false);
});
