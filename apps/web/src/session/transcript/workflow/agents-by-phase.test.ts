import type { PartOf } from "@tandem/protocol";
import { expect, test } from "vitest";
import { agentsByPhase, costOf, countsOf, type WorkflowAgent } from "./agents-by-phase.ts";

const agent = (thread: string, phase: string | null, more: Partial<WorkflowAgent> = {}): WorkflowAgent => ({
  thread,
  label: thread,
  phase,
  state: "ended",
  error: null,
  started_at: null,
  ended_at: null,
  usd: null,
  ...more,
});
const part: PartOf<"workflow"> = {
  type: "workflow",
  id: "wrun_1",
  at: null,
  name: "review",
  state: "running",
  error: null,
  ended_at: null,
  phases: [
    { id: "scan", name: "Scan", state: "running" },
    { id: "judge", name: "Judge", state: "pending" },
  ],
  agents: [
    agent("a", "scan", { usd: 0.25 }),
    agent("b", null),
    agent("c", "scan", { state: "failed", error: "no", usd: 0.5 }),
    agent("d", "unknown", { state: "running" }),
  ],
};
const threads = (isFailedOnly: boolean) =>
  agentsByPhase(part, isFailedOnly).map(({ phase, agents }) => [phase?.name, agents.map(({ thread }) => thread)]);

test("lists agents by phase, with phases that have not started and agents without a known phase", () => {
  expect(threads(false)).toEqual([
    [undefined, ["b", "d"]],
    ["Scan", ["a", "c"]],
    ["Judge", []],
  ]);
  expect(threads(true)).toEqual([["Scan", ["c"]]]);
});

test("counts states and adds up known prices", () => {
  expect(countsOf(part.agents)).toEqual({ running: 1, waiting: 0, ended: 2, failed: 1 });
  expect(costOf(part.agents)).toBe(0.75);
  expect(costOf([agent("a", null)])).toBeUndefined();
});
