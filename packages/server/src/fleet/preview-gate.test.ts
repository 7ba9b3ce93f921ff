import type { LiveDelta, LoggedEvent } from "@tandem/protocol";
import { expect, test } from "vitest";
import { PreviewGate } from "./preview-gate.ts";

const begins = (id: string, thread: string | null = null): LiveDelta =>
  ({ thread, delta: { type: "event_start", event: { type: "agent.message", id } } }) as LiveDelta;
const grows = (id: string, thread: string | null = null): LiveDelta =>
  ({
    thread,
    delta: {
      type: "event_delta",
      event_id: id,
      delta: { type: "content_delta", content: { type: "text", text: "x" } },
    },
  }) as LiveDelta;
const logged = (seq: number, type: string, id = `sevt_${seq}`, thread: string | null = null): LoggedEvent =>
  ({ seq, thread, event: { type, id } }) as unknown as LoggedEvent;

test("a preview waits for earlier events, and later previews wait for it", () => {
  const gate = new PreviewGate(1);
  gate.arrive({ after: 3, deltas: [begins("a")] });
  gate.arrive({ after: 3, deltas: [grows("a")] });
  gate.pass([logged(2, "session.status_running")]);
  expect(gate.take()).toEqual([]);
  gate.pass([logged(3, "user.message")]);
  expect(gate.take()).toEqual([begins("a"), grows("a")]);
  expect(gate.take()).toEqual([]);
});

test("a preview that arrives after its event is dropped; previews of other events are not", () => {
  const gate = new PreviewGate(1);
  gate.pass([logged(2, "agent.message", "a")]);
  gate.arrive({ after: 1, deltas: [begins("a"), grows("a"), begins("b", "thr_sub")] });
  expect(gate.take()).toEqual([begins("b", "thr_sub")]);
});

test("a preview of an abandoned event is dropped if its request ended meanwhile", () => {
  const gate = new PreviewGate(1);
  gate.pass([logged(2, "span.model_request_end")]);
  gate.arrive({ after: 1, deltas: [begins("lost"), begins("below", "thr_sub")] });
  gate.arrive({ after: 2, deltas: [begins("next")] });
  expect(gate.take()).toEqual([begins("below", "thr_sub"), begins("next")]);
});

test("previews of a source that disconnected are dropped", () => {
  const gate = new PreviewGate(1);
  gate.arrive({ after: 2, deltas: [begins("a")] });
  gate.clear();
  gate.pass([logged(2, "user.message")]);
  expect(gate.take()).toEqual([]);
});
