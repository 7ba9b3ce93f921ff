import type { ConversationOutput } from "@tandem/claude-code";
import { systemClock, type EventId, type SessionEventBody, type ThreadId } from "@tandem/protocol";
import { expect, test } from "vitest";
import { NextAnswers } from "./next-answers.ts";

const output = (event: SessionEventBody, thread: string | null = null, id = "sevt_1") =>
  ({ type: "event", thread, id, event }) as unknown as Extract<ConversationOutput, { type: "event" }>;
const start = (): SessionEventBody => ({ type: "span.model_request_start" });
const end = (input: number, of = "sevt_1"): SessionEventBody => ({
  type: "span.model_request_end",
  model_request_start_id: of as EventId,
  is_error: false,
  model_usage: { input_tokens: input, output_tokens: 500, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  tandem: { model: "claude-sonnet-5-5" },
});
const call: SessionEventBody = { type: "agent.tool_use", name: "Bash", input: {}, tandem: { tool_use_id: "toolu_1" } };
const thread = (state: "running" | "idle", id: string): SessionEventBody =>
  ({
    type: `session.thread_status_${state}`,
    session_thread_id: id as ThreadId,
    agent_name: "digger",
  }) as SessionEventBody;

// Sonnet 5.5, per million: $2.50 cache write, $0.10 cache read, $10 output.
test("the first response of a session is estimated from Claude Code's own instructions", () => {
  const next = new NextAnswers(() => "claude-sonnet-5-5", systemClock);
  expect(next.amounts).toMatchObject({ usd: 16_000 * 2.5 + 1_000 * 10, tokens: 17_000, requests: 1 });
});

test("a model without a known price counts as the most expensive, also for this turn's past responses", () => {
  const next = new NextAnswers(() => "claude-of-next-year", systemClock);
  // Fable 5.1, per million: $10 input, $12.50 cache write, $50 output.
  expect(next.amounts).toMatchObject({ usd: 16_000 * 12.5 + 1_000 * 50, tokens: 17_000 });
  expect(next.isAssumed).toBe(true);
  const answer = end(99_500) as Extract<SessionEventBody, { type: "span.model_request_end" }>;
  for (const event of [start(), { ...answer, tandem: { model: "claude-of-next-year" } }]) next.observe(output(event));
  expect(next.amounts).toMatchObject({ usd: 99_500 * 10 + 500 * 50, requests: 0 });
  next.beginTurn();
  expect(next.amounts.usd).toBeLessThan(99_500 * 10);
  expect(new NextAnswers(() => "claude-sonnet-5-5", systemClock).isAssumed).toBe(false);
});

test("the next response uses the current context, cached if recent, and has the last one's length", () => {
  const next = new NextAnswers(() => "claude-sonnet-5-5", systemClock);
  for (const event of [start(), call, end(99_500)]) next.observe(output(event));
  expect(next.amounts).toMatchObject({ usd: 100_000 * 0.1 + 1_000 * 10, tokens: 101_000 });
  const later = new NextAnswers(() => "claude-sonnet-5-5", systemClock);
  later.recall(end(99_500) as never, Date.now() - 6 * 60_000);
  expect(later.amounts.usd).toBe(100_000 * 2.5 + 1_000 * 10);
});

test("nothing more is expected after a response without a call, unless subagents run", () => {
  const next = new NextAnswers(() => "claude-sonnet-5-5", systemClock);
  for (const event of [start(), end(1_000)]) next.observe(output(event));
  expect(next.amounts).toMatchObject({ usd: 0, requests: 0 });
  next.observe(output(thread("running", "sthr_a")));
  next.observe(output(thread("running", "sthr_b")));
  expect(next.amounts.requests).toBe(2);
  // A response whose cost is not known yet is reserved in addition to the next.
  next.observe(output(start(), "sthr_a", "sevt_a"));
  expect(next.amounts.requests).toBe(3);
  next.observe(output(end(1_000, "sevt_a"), "sthr_a"));
  next.observe(output(thread("idle", "sthr_b")));
  expect(next.amounts.requests).toBe(1);
});
