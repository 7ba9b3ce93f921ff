import { expect, test } from "vitest";
import type { SessionEventBody } from "../events/session-event.ts";
import type { StopReason } from "../events/status-event.ts";
import type { UsageSnapshot } from "../events/usage-snapshot.ts";
import type { WorkflowRunResult } from "../events/workflow-event.ts";
import type { WorkflowRunId, WorkflowRunPhaseId } from "../ids.ts";
import { asks, fold, idle, only, partsOf, start } from "./testing/lines.ts";
import { eventId, threadId, timeAt, type Line } from "./testing/log.ts";

const run = "wrun_1" as WorkflowRunId;
const phase = (name: string) => `wrph_${name}` as WorkflowRunPhaseId;
const created: Line = {
  type: "workflow_run.created",
  workflow_run_id: run,
  name: "review",
  description: null,
  phases: ["scan", "judge"].map((name) => ({ id: phase(name), name, description: null })),
};
const opened = (name: string, tandem?: { name: string }): Line => ({
  type: "workflow_run.phase_started",
  workflow_run_id: run,
  workflow_run_phase_id: phase(name),
  ...(tandem && { tandem }),
});
const closed = (name: string): Line => ({
  type: "workflow_run.phase_ended",
  workflow_run_id: run,
  workflow_run_phase_id: phase(name),
  phase_started_id: eventId("p"),
});
const agent = (name: string, of = "scan"): Line => ({
  type: "session.thread_created",
  session_thread_id: threadId(name),
  agent_name: name,
  workflow_run_id: run,
  tandem: { leaf: { label: `label ${name}`, phase_id: phase(of) } },
});
const rests = (
  name: string,
  stop_reason: StopReason,
  tandem?: Extract<SessionEventBody, { type: "session.thread_status_idle" }>["tandem"],
): Line => ({
  type: "session.thread_status_idle",
  session_thread_id: threadId(name),
  agent_name: name,
  stop_reason,
  stop_details: null,
  ...(tandem && { tandem }),
});
const runs = (name: string): Line => ({
  type: "session.thread_status_running",
  session_thread_id: threadId(name),
  agent_name: name,
});
const ended = (result: WorkflowRunResult): Line => ({
  type: "workflow_run.status_ended",
  workflow_run_id: run,
  result,
});
const DONE: StopReason = { type: "end_turn" };

test("a run is one part with its phases, and its agents with state, cost and failure", () => {
  const part = only(
    created,
    opened("scan"),
    agent("a"),
    agent("b"),
    rests("a", DONE, { usd: 0.5 }),
    rests("b", { type: "retries_exhausted" }, { error: "no such thing", usd: 0.1 }),
    opened("judge"),
    closed("scan"),
    agent("c", "judge"),
  );
  const known = { started_at: timeAt(3), ended_at: timeAt(5), error: null };
  expect(part).toEqual({
    type: "workflow",
    id: run,
    at: timeAt(1),
    name: "review",
    state: "running",
    error: null,
    ended_at: null,
    phases: [
      { id: phase("scan"), name: "scan", state: "ended" },
      { id: phase("judge"), name: "judge", state: "running" },
    ],
    agents: [
      { ...known, thread: "sthr_a", label: "label a", phase: phase("scan"), state: "ended", usd: 0.5 },
      {
        thread: "sthr_b",
        label: "label b",
        phase: phase("scan"),
        state: "failed",
        error: "no such thing",
        started_at: timeAt(4),
        ended_at: timeAt(6),
        usd: 0.1,
      },
      {
        ...known,
        thread: "sthr_c",
        label: "label c",
        phase: phase("judge"),
        state: "running",
        started_at: timeAt(9),
        ended_at: null,
        usd: null,
      },
    ],
  });
});

test("agents that start in a later request or turn belong to the same part", () => {
  const parts = fold(asks("go"), start("s"), created, agent("a"), idle, asks("more"), start("t"), agent("b"), runs("b"))
    .flatMap((message) => message.parts)
    .filter(({ type }) => type === "workflow" || type === "subtask");
  expect(parts).toMatchObject([{ type: "workflow", agents: [{ thread: "sthr_a" }, { thread: "sthr_b" }] }]);
});

test("an agent with an open question waits, and runs again after the answer", () => {
  const asking = rests("a", { type: "requires_action", event_ids: [eventId("q")] });
  expect(only(created, agent("a"), asking)).toMatchObject({ agents: [{ state: "waiting", ended_at: null }] });
  expect(only(created, agent("a"), asking, runs("a"))).toMatchObject({ agents: [{ state: "running" }] });
});

test("the end of a run ends its agents, and has the plan's own error", () => {
  const error = { type: "program_error" as const, message: "The plan failed." };
  const failed: Line = { type: "workflow_run.error", workflow_run_id: run, error, tandem: { detail: "Error: x" } };
  expect(only(created, agent("a"), failed, ended({ type: "error", error }))).toMatchObject({
    state: "failed",
    error: "The plan failed. Error: x",
    agents: [{ state: "ended", ended_at: timeAt(4) }],
  });
  expect(only(created, ended({ type: "stopped" }))).toMatchObject({ state: "stopped", error: null });
});

test("a phase that the plan did not declare is added with its name", () => {
  expect(only(created, opened("more", { name: "More" }))).toMatchObject({
    phases: [{}, {}, { id: phase("more"), name: "More", state: "running" }],
  });
});

test("without the run's beginning, its later agents are one part without a name", () => {
  expect(only(rests("a", DONE), opened("scan"), agent("b"), ended({ type: "completed" }))).toMatchObject({
    name: null,
    state: "completed",
    agents: [{ thread: "sthr_b", state: "ended" }],
  });
});

test("the usage of a turn has the prices of a run's agents", () => {
  const none: UsageSnapshot = {
    input_tokens: 0,
    output_tokens: 0,
    cache_read_input_tokens: 0,
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
    list_cost: { amount: "0", currency: "USD" },
    active_seconds: 0,
  };
  const usage: Line = {
    type: "session.usage",
    usage: none,
    budget: null,
    tandem: { usd: 1, by_model: {}, by_thread: { sthr_a: { ...none, usd: 0.75 } } },
  };
  expect(partsOf(created, agent("a"), agent("b"), usage)).toMatchObject([{ agents: [{ usd: 0.75 }, { usd: null }] }]);
});
