import { existsSync } from "node:fs";
import { join } from "node:path";
import { text } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { sessionMachine } from "../apps/cli/src/testing/session-machine.ts";
import { processesIn } from "../apps/cli/src/testing/process-stats.ts";
import { runExample } from "./follow-docs/run-example.ts";

test("the example that embeds a server runs unchanged and leaves nothing running", async () => {
  await using machine = await sessionMachine(() => text("The Aare."));
  const variables = { ...machine.variables, SESSION_KEY: "sk-ant-made-up" };
  expect(await runExample("embed-server.ts", variables, machine.project)).toEqual(["The Aare."]);
  expect(processesIn(machine.variables.TANDEM_HOME)).toEqual([]);
  expect(existsSync(join(machine.variables.TANDEM_HOME, "server.json"))).toBe(false);
});
