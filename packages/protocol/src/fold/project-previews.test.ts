import { expect, it } from "vitest";
import { message } from "./message.ts";
import { project, Projection } from "./projection.ts";
import type { Delta } from "../events/delta.ts";
import { eventId, log, threadId, timeAt, type Line } from "./testing/log.ts";

const text = (words: string) => ({ type: "text", text: words }) as const;
const says = (as: string, words: string): Line => ({ type: "agent.message", as, content: [text(words)] });
const start: Line = { type: "span.model_request_start", as: "s" };

const live = (projection: Projection, ...deltas: Delta[]) => {
  for (const delta of deltas) projection.applyDelta({ thread: null, delta });
  for (const each of projection.messages) expect(message.parse(each)).toEqual(each);
  return projection.messages;
};
const begins = (id: string, type: "agent.message" | "agent.thinking" = "agent.message"): Delta => ({
  type: "event_start",
  event: { type, id: eventId(id) },
});
const grows = (id: string, words: string, index?: number): Delta => ({
  type: "event_delta",
  event_id: eventId(id),
  delta: { type: "content_delta", index, content: text(words) },
});

it("previews grow in the agent's message until the event replaces them", () => {
  const [first, second] = log(start, says("m", "Hello!"));
  const projection = new Projection();
  projection.apply(first!);
  expect(live(projection, begins("m"), grows("m", "Hel"), grows("m", "lo"))).toMatchObject([
    { id: "sevt_s", parts: [{ type: "step" }, { type: "text", id: "sevt_m", text: "Hello", preview: true }] },
  ]);
  projection.apply(second!);
  expect(projection.messages).toEqual(project([first!, second!]));
  // Late deltas for a logged event.
  expect(live(projection, begins("m"), grows("m", "?"))).toEqual(project([first!, second!]));
});

it("previews continue when the log is folded again from further back", () => {
  const [first, second, third] = log(says("a", "Before."), start, says("m", "Hello!"));
  const projection = new Projection();
  projection.apply(second!);
  live(projection, begins("m"), grows("m", "Hel"));
  const whole = new Projection();
  for (const entry of [first!, second!]) whole.apply(entry);
  whole.takePreviews(projection);
  expect(live(whole, grows("m", "lo")).at(-1)).toMatchObject({
    parts: [{ type: "step" }, { type: "text", id: "sevt_m", text: "Hello", preview: true }],
  });
  whole.apply(third!);
  expect(whole.messages).toEqual(project([first!, second!, third!]));
});

it("previews get their own message if none is open, with its future id", () => {
  const projection = new Projection();
  const [preview] = live(projection, begins("m"), grows("m", "one"), grows("m", "two", 1));
  expect(preview).toMatchObject({ id: "sevt_m", role: "agent", seq: null, created_at: null });
  expect(preview!.parts).toMatchObject([
    { id: "sevt_m", text: "one" },
    { id: "sevt_m.1", text: "two" },
  ]);
  for (const entry of log(says("m", "one"))) projection.apply(entry);
  expect(projection.messages).toMatchObject([{ id: "sevt_m", seq: 1, parts: [{ text: "one" }] }]);
});

it("previews of thinking stay until its text arrives", () => {
  const projection = new Projection();
  const [fact, told] = log(
    { type: "agent.thinking", as: "th" },
    { type: "tandem.thinking", thinking_id: eventId("th"), text: "hmm", signature: "s" },
  );
  const shown = () => projection.messages.flatMap(({ parts }) => parts);
  live(projection, begins("th", "agent.thinking"));
  live(projection, { type: "tandem.thinking_delta", event_id: eventId("th"), text: "hm" });
  projection.apply(fact!);
  expect(shown()).toMatchObject([{ id: "sevt_th", text: "hm", preview: true }]);
  projection.apply(told!);
  expect(shown()).toEqual([{ type: "reasoning", id: "sevt_th", at: timeAt(2), text: "hmm", signature: "s" }]);
});

it("previews of a tool show its partial input, then its running time", () => {
  const projection = new Projection();
  const [started, ended] = log(
    { type: "agent.tool_use", as: "t", name: "Bash", input: {}, tandem: { tool_use_id: "toolu_1" } },
    { type: "agent.tool_result", tool_use_id: eventId("t"), content: [text("out")] },
  );
  const id = eventId("t");
  const [pending] = live(
    projection,
    { type: "tandem.tool_input_start", event_id: id, name: "Bash" },
    { type: "tandem.tool_input_delta", event_id: id, json: '{"comm' },
  );
  expect(pending!.parts).toMatchObject([
    { name: "Bash", input: null, input_preview: '{"comm', state: { type: "pending" } },
  ]);
  projection.apply(started!);
  const progress: Delta = { type: "tandem.tool_progress", event_id: id, elapsed_seconds: 30 };
  expect(live(projection, progress)[0]!.parts).toMatchObject([{ state: { type: "running", elapsed_seconds: 30 } }]);
  projection.apply(ended!);
  expect(live(projection, progress)).toEqual(project([started!, ended!]));
});

it("previews disappear when the request ends without their event", () => {
  const projection = new Projection();
  const entries = log(start, {
    type: "span.model_request_end",
    model_request_start_id: eventId("s"),
    is_error: true,
    model_usage: { input_tokens: 1, output_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
    tandem: {},
  });
  projection.apply(entries[0]!);
  live(projection, begins("m"), grows("m", "never fini"));
  projection.applyDelta({ thread: threadId("a"), delta: begins("other") });
  projection.apply(entries[1]!);
  expect(projection.messages.map(({ id }) => id)).toEqual(["sevt_s", "sevt_other"]);
  expect(projection.messages[0]).toEqual(project(entries)[0]);
});

it("a restarted preview replaces the old one, as after a reconnect", () => {
  const [fact] = log(says("m", "Hello!"));
  const projection = new Projection();
  live(projection, begins("m"), grows("m", "Hel"));
  const again = live(projection, begins("m"), grows("m", "Hello"));
  expect(again).toMatchObject([{ parts: [{ text: "Hello" }] }]);
  projection.apply(fact!);
  expect(projection.messages).toEqual(project([fact!]));
});

it("deltas without their start are ignored", () => {
  expect(live(new Projection(), grows("m", "ragment"))).toEqual([]);
});
