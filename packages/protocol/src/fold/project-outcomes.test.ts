import { expect, test } from "vitest";
import type { LoggedEvent, SessionEventBody } from "../events/session-event.ts";
import { project } from "./projection.ts";

const NO_USAGE = {
  input_tokens: 1,
  output_tokens: 2,
  cache_read_input_tokens: 0,
  cache_creation_input_tokens: 0,
};

const at = (seq: number): string => new Date(seq * 1_000).toISOString();
const log = (...bodies: SessionEventBody[]): LoggedEvent[] =>
  bodies.map((body, index) => ({
    seq: index + 1,
    thread: null,
    event: { ...body, id: `sevt_${index + 1}`, processed_at: at(index + 1) } as LoggedEvent["event"],
  }));

const DEFINED: SessionEventBody = {
  type: "user.define_outcome",
  outcome_id: "outc_1",
  description: "A haiku.",
  rubric: { type: "text", content: "Three lines." },
  max_iterations: null,
};
const start = (iteration: number): SessionEventBody => ({
  type: "span.outcome_evaluation_start",
  outcome_id: "outc_1",
  iteration,
});
const end = (of: string, iteration: number, result: "needs_revision" | "satisfied" | "interrupted") =>
  ({
    type: "span.outcome_evaluation_end",
    outcome_id: "outc_1",
    iteration,
    outcome_evaluation_start_id: of,
    result,
    explanation: "Because.",
    usage: NO_USAGE,
  }) as SessionEventBody;
const IDLE: SessionEventBody = {
  type: "session.status_idle",
  stop_reason: { type: "end_turn" },
  stop_details: null,
};

const evaluations = (events: readonly LoggedEvent[]) =>
  project(events).flatMap(({ parts }) => parts.flatMap((part) => (part.type === "evaluation" ? [part] : [])));

test("an outcome is a user message that begins a turn, with its rubric and the default maximum", () => {
  const [message] = project(log(DEFINED));
  expect(message).toMatchObject({
    role: "user",
    turn: "sevt_1",
    parts: [{ type: "outcome", description: "A haiku.", rubric: "Three lines.", max_iterations: 3 }],
  });
});

test("an evaluation is one part, which gets its verdict", () => {
  const running = log(DEFINED, start(0));
  expect(evaluations(running)).toMatchObject([{ id: "sevt_2", state: "running", explanation: null }]);
  const events = log(
    DEFINED,
    start(0),
    end("sevt_2", 0, "needs_revision"),
    start(1),
    end("sevt_4", 1, "satisfied"),
    IDLE,
  );
  expect(evaluations(events)).toMatchObject([
    { id: "sevt_2", iteration: 0, state: "needs_revision", explanation: "Because.", usage: NO_USAGE },
    { id: "sevt_4", iteration: 1, state: "satisfied" },
  ]);
});

test("an evaluation without a verdict is cut off by the next one, or when the session goes idle", () => {
  const events = log(DEFINED, start(0), start(0), IDLE);
  expect(evaluations(events).map(({ state }) => state)).toEqual(["cut_off", "cut_off"]);
});

test("an interrupt before the first evaluation has a part of its own", () => {
  expect(evaluations(log(DEFINED, end("", 0, "interrupted")))).toMatchObject([{ id: "sevt_2", state: "interrupted" }]);
});
