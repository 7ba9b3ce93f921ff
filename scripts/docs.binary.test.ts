import { spawn } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { reply, text, toolUse, type Script } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { outcomeOf } from "../apps/cli/src/testing/run-tandem.ts";
import { sessionMachine } from "../apps/cli/src/testing/session-machine.ts";

// Its types are checked here too.
export type * from "../docs/examples/managed-agent.ts";

const root = join(import.meta.dirname, "..");

const writes: Script = ({ toolResults: [result] }) =>
  result
    ? text(result.isError ? "Then not." : "It is there.")
    : reply([text("I write it."), toolUse("Bash", { command: "echo hello > hello.txt" })]);

test("the example for the official client runs as it stands, against the real Claude Code", async () => {
  await using machine = await sessionMachine(writes);
  await using server = await machine.up();
  const example = spawn(process.execPath, [join(root, "docs/examples/managed-agent.ts")], {
    env: { ...machine.variables, TANDEM_URL: server.url },
  });
  const { code, stdout, stderr } = await outcomeOf(example);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout.trim().split("\n")).toEqual([
    "I write it.",
    "[Bash: ask]",
    "It is there.",
    expect.stringMatching(/^\d+ events, the last is session\.status_idle$/),
  ]);
  expect(globSync("scratch/*/hello.txt", { cwd: machine.variables.TANDEM_HOME })).toHaveLength(1);
}, 120_000);
