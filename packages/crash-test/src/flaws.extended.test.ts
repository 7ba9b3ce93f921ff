import { fileURLToPath } from "node:url";
import { expect, inject, test } from "vitest";
import { runCrashTest, type CrashTestOptions } from "./run-crash-test.ts";
import { commandSystem } from "./system/command-system.ts";

const SERVER = fileURLToPath(new URL("testing/reference-server.ts", import.meta.url));
const calm = { only: ["slow"] };
const kills = { only: ["kill"], faults: 12 };

/** Each flaw of the server, the invariant that finds it, and faults that bring it out. */
const FLAWS: [flaw: string, invariant: string, options: Partial<CrashTestOptions>][] = [
  ["double_message", "message-once", { ...calm, work: ["talk"] }],
  ["memory_only", "acknowledged-kept", { ...kills, work: ["talk"] }],
  ["drop_session", "acknowledged-kept", { ...kills, faults: 6, work: ["talk"] }],
  ["forget_event", "completed-has-answer", { ...calm, work: ["talk"] }],
  ["change_event", "log-append-only", { ...calm, work: ["talk"] }],
  ["skip_in_stream", "stream-matches-log", { ...calm, faults: 12, work: ["talk"] }],
  ["silent_stream", "stream-matches-log", { ...calm, work: ["talk"] }],
  ["repeat_in_stream", "stream-matches-log", { ...calm, faults: 6, work: ["talk"] }],
  ["resume_too_early", "stream-matches-log", { only: ["cut-stream"], faults: 12, work: ["tool"] }],
  ["no_answer", "completed-has-answer", { ...calm, work: ["talk"] }],
  ["repeat_answer", "bill-true", { ...calm, work: ["talk"] }],
  ["double_bill", "bill-true", { ...calm, work: ["talk"] }],
  ["stuck", "session-settles", { ...calm, work: ["talk"] }],
  ["exit", "server-runs", { ...calm, faults: 12, work: ["talk"] }],
  ["no_result", "calls-closed", { ...calm, work: ["tool"] }],
  ["invent_result", "result-true", { ...calm, work: ["tool"] }],
  ["repeat_call", "call-started-once", { ...kills, work: ["tool"] }],
  ["false_not_run", "result-true", { ...kills, work: ["tool"] }],
  ["false_success", "result-true", { ...kills, work: ["tool"] }],
  ["never_resume", "session-settles", { ...kills, work: ["tool"] }],
  ["run_early", "approval-kept", { ...calm, work: ["approval"] }],
  ["ignore_denial", "approval-kept", { ...calm, faults: 8, work: ["approval"] }],
  ["drop_answer", "acknowledged-kept", { ...calm, work: ["approval"] }],
  ["accept_both", "answered-once", { only: ["two-answers"], work: ["approval"] }],
];

test.concurrent.each(FLAWS)("a server that would %s is found: %s", async (flaw, invariant, options) => {
  const { violations } = await runCrashTest({
    name: flaw,
    faults: 4,
    seed: 3,
    patienceMs: 3_000 * inject("slowness"),
    signal: new AbortController().signal,
    createSystem: commandSystem({
      command: [process.execPath, SERVER],
      cwd: import.meta.dirname,
      env: { PATH: process.env["PATH"], FLAW: flaw },
    }),
    ...options,
  });
  expect(new Set(violations.map((violation) => violation.invariant))).toContain(invariant);
});
