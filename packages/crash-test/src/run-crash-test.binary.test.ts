import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";
import { allProcesses, isMarked } from "./observer/process-table.ts";
import { runCrashTest, type CrashTestOptions } from "./run-crash-test.ts";
import { commandSystem } from "./system/command-system.ts";

const SERVER = fileURLToPath(new URL("testing/reference-server.ts", import.meta.url));

const testServer = (flaw: string, options: Partial<CrashTestOptions> = {}) =>
  runCrashTest({
    name: flaw,
    faults: 3,
    seed: 11,
    signal: new AbortController().signal,
    createSystem: commandSystem({
      command: [process.execPath, SERVER],
      cwd: import.meta.dirname,
      env: { PATH: process.env["PATH"], FLAW: flaw },
      childPattern: /^sh -c/,
    }),
    ...options,
  });

/** Each flaw of the server, the invariant that finds it, and faults that bring it out. */
const FLAWS: [flaw: string, invariant: string, options?: Partial<CrashTestOptions>][] = [
  ["drop_message", "acknowledged-kept", { work: ["talk"], only: ["slow"] }],
  ["double_effect", "call-started-once", { work: ["tool"], only: ["slow"] }],
  ["move_events", "log-append-only", { work: ["talk"], only: ["slow"] }],
  ["forget_approval", "approval-kept", { work: ["approval"], only: ["slow"] }],
  ["leave_process", "no-process-left", { work: ["tool"], only: ["slow"] }],
];

test.concurrent.each(FLAWS)("a server that would %s is found: %s", async (flaw, invariant, options) => {
  const { violations } = await testServer(flaw, { patienceMs: 2_500 * inject("slowness"), ...options });
  expect(new Set(violations.map((violation) => violation.invariant))).toContain(invariant);
});

test("an honest server has no violation, and nothing is left of the run", async () => {
  const folders: string[] = [];
  const { violations, faults } = await testServer("", {
    faults: 6,
    only: ["kill", "lost-answer", "two-answers"],
    createSystem: (stage) => {
      folders.push(stage.folder);
      const env = { PATH: process.env["PATH"] };
      return commandSystem({ command: [process.execPath, SERVER], cwd: stage.folder, env })(stage);
    },
  });
  expect(violations).toEqual([]);
  expect(faults).toHaveLength(6);
  expect(allProcesses().filter((one) => folders.some((folder) => isMarked(one, folder)))).toEqual([]);
});
