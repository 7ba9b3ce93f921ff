import { expect, test } from "vitest";
import type { FaultRecord, History, SeenEvent } from "../operation-history.ts";
import {
  allowedTurn,
  CALL,
  event,
  historyOf,
  honestHistory,
  SESSION,
  streamOf,
  withEvent,
} from "../testing/forged-history.ts";
import { checkHistory, INVARIANTS } from "./check-history.ts";

const kill: FaultRecord = { kind: "kill", state: "tool", from: 3_500, to: 4_500, hitsProcess: true };
const failed = (words: string): SeenEvent =>
  event("result", "agent.tool_result", {
    tool_use_id: "use",
    is_error: true,
    content: [{ type: "text", text: words }],
  });
const denied = event("yes", "user.tool_confirmation", { tool_use_id: "use", result: "deny" });
const moved = (): SeenEvent[] => {
  const [first, second, ...rest] = allowedTurn();
  return [second!, first!, ...rest];
};
const withReads = (later: SeenEvent[]): History => ({
  ...honestHistory(),
  reads: [
    { session: SESSION, at: 1, events: allowedTurn() },
    { session: SESSION, at: 2, events: later },
  ],
  streams: [],
});
const custom = (result: SeenEvent[]): History => {
  const use = event("use", "agent.custom_tool_use", { name: "lookup", input: { key: CALL } });
  const events = allowedTurn().flatMap((one) =>
    one.id === "use" ? use : one.id === "yes" || one.id === "result" ? [] : one.id === "r2" ? [...result, one] : one,
  );
  return { ...historyOf(events), acknowledgements: [], answers: [] };
};
const answerTo = (id: string): SeenEvent =>
  event(id, "user.custom_tool_result", { custom_tool_use_id: "use", content: [] });

test("a history without a fault has no violation, with several reads and with one", () => {
  expect(checkHistory(honestHistory())).toEqual([]);
  expect(checkHistory(historyOf(allowedTurn()))).toEqual([]);
});

test("after a kill, an unknown outcome is allowed, whether the call took effect or not", () => {
  const history = { ...historyOf(withEvent("result", failed("The effect is unknown."))), faults: [kill] };
  expect(checkHistory(history)).toEqual([]);
  expect(checkHistory({ ...history, effects: [] })).toEqual([]);
});

const honest = honestHistory();
const withEffects = (...effects: History["effects"]): History => ({ ...honest, effects });
const http = (at: number, id = CALL): History["effects"][number] => ({ id, at, through: "http" });

const FORGED: [invariant: string, what: string, History][] = [
  [
    "acknowledged-kept",
    "an acknowledged answer is not in the log",
    {
      ...historyOf(withEvent("yes", event("other", "user.tool_confirmation", { tool_use_id: "use", result: "allow" }))),
    },
  ],
  [
    "acknowledged-kept",
    "a created session is gone",
    { ...honest, created: [{ type: "session", id: SESSION, isThere: false }] },
  ],
  [
    "acknowledged-kept",
    "an acknowledged session has no events",
    { ...honest, reads: [{ session: SESSION, at: 1, events: [] }], streams: [] },
  ],
  [
    "message-once",
    "a message is in the log twice",
    historyOf(
      withEvent("r1", [event("m2", "user.message", allowedTurn()[0]!.event), event("r1", "session.status_running")]),
    ),
  ],
  ["message-once", "an acknowledged message is missing", historyOf(withEvent("m"))],
  ["call-started-once", "a call ran twice", withEffects(http(4_000), http(4_100))],
  [
    "call-started-once",
    "a call ran twice, seen in files",
    withEffects({ ...http(4_000), through: "file" }, { ...http(4_000), through: "file" }),
  ],
  ["call-started-once", "a call ran that is not in the log", withEffects(http(4_000), http(4_000, "ord-1-1-1.7"))],
  [
    "call-started-once",
    "a call is in the log twice",
    historyOf(
      withEvent("result", [
        allowedTurn()[6]!,
        event("use2", "agent.tool_use", { input: { command: CALL } }),
        event("res2", "agent.tool_result", { tool_use_id: "use2", is_error: false }),
      ]),
    ),
  ],
  ["calls-closed", "a turn ended with an open call", historyOf(withEvent("result"))],
  [
    "calls-closed",
    "a call has two results",
    historyOf(withEvent("result", [failed("one"), event("result2", "agent.tool_result", { tool_use_id: "use" })])),
  ],
  [
    "approval-kept",
    "an approval was forgotten",
    { ...historyOf(withEvent("yes").filter(({ id }) => id !== "result")), effects: [] },
  ],
  ["approval-kept", "a call ran before it was allowed", withEffects(http(2_500))],
  ["approval-kept", "a denied call ran", historyOf(withEvent("yes", denied))],
  ["approval-kept", "a custom tool was forgotten", custom([])],
  [
    "answered-once",
    "two clients were told that their different answers were taken",
    { ...honest, answers: [...honest.answers, { ...honest.answers[0]!, verdict: "deny", client: "client 2" }] },
  ],
  [
    "answered-once",
    "the log has two answers",
    historyOf(withEvent("r2", [denied, event("r2", "session.status_running")])),
  ],
  ["answered-once", "the log has the other answer", { ...historyOf(withEvent("yes", denied)), effects: [] }],
  ["answered-once", "an acknowledged answer is not in the log", historyOf(withEvent("yes"))],
  ["answered-once", "a custom tool has two results", custom([answerTo("c1"), answerTo("c2")])],
  [
    "session-settles",
    "a session is stuck",
    { ...honest, settled: [{ session: SESSION, isSettled: false, waitedMs: 60_000, detail: "no end" }] },
  ],
  ["no-process-left", "a process is left", { ...honest, leftProcesses: [{ pid: 7, command: "claude" }] }],
  ["log-append-only", "events changed their order", withReads(moved())],
  ["log-append-only", "an event is gone", withReads(allowedTurn().slice(0, -1))],
  [
    "log-append-only",
    "an event has changed",
    withReads(
      withEvent("a", event("a", "agent.message", { content: [{ type: "text", text: "Done ord-1-1-1.2. Really." }] })),
    ),
  ],
  ["log-append-only", "an event is in the log twice", withReads([...allowedTurn(), allowedTurn()[0]!])],
  ["stream-matches-log", "a stream delivered another order", { ...honest, streams: [streamOf(["r1", "m"])] }],
  ["stream-matches-log", "a stream delivered an event twice", { ...honest, streams: [streamOf(["m", "m"])] }],
  [
    "stream-matches-log",
    "a stream skipped an event",
    { ...honest, streams: [streamOf(["m", "r1", "use", "wait", "yes", "r2", "end"])] },
  ],
  ["stream-matches-log", "a stream skipped the beginning", { ...honest, streams: [streamOf(["result", "a", "end"])] }],
  [
    "stream-matches-log",
    "a stream skipped an answer, and delivered others",
    {
      ...honest,
      streams: [...honest.streams, streamOf(["m", "r1", "use", "wait", "r2", "result", "a", "end"])],
    },
  ],
  ["stream-matches-log", "a stream delivered an unknown event", { ...honest, streams: [streamOf(["ghost"])] }],
  [
    "stream-matches-log",
    "an open stream stayed silent",
    { ...honest, streams: [{ ...streamOf([]), missed: { id: "end", waitedMs: 60_000 } }] },
  ],
  ["completed-has-answer", "a completed turn has no answer", historyOf(withEvent("a"))],
  [
    "completed-has-answer",
    "a turn failed without a fault",
    historyOf(withEvent("a", event("e", "session.error", { error: {} }))),
  ],
  ["result-true", "a successful call had no effect", { ...historyOf(allowedTurn()), effects: [] }],
  [
    "result-true",
    "a successful call has no output",
    historyOf(withEvent("result", event("result", "agent.tool_result", { tool_use_id: "use", content: [] }))),
  ],
  [
    "result-true",
    "a call that took effect is reported as not run",
    { ...historyOf(withEvent("result", failed("It did not run."))), faults: [kill] },
  ],
  [
    "result-true",
    "an outcome is unknown without a fault",
    historyOf(withEvent("result", failed("The effect is unknown."))),
  ],
  [
    "result-true",
    "an outcome is unknown after a fault of the network only",
    { ...historyOf(withEvent("result", failed("The effect is unknown."))), faults: [{ ...kill, hitsProcess: false }] },
  ],
  ["result-true", "a custom tool has a result that no client sent", custom([answerTo("c1")])],
  [
    "bill-true",
    "the model was asked twice",
    { ...honest, replies: [...honest.replies, { order: "ord-1-1-1", number: 3, type: "answer", at: 6_000 }] },
  ],
  [
    "bill-true",
    "the model was asked after a crash although the turn had been interrupted",
    {
      ...historyOf(withEvent("a", event("stop", "user.interrupt"))),
      replies: [...honest.replies, { order: "ord-1-1-1", number: 3, type: "answer", at: 30_000 }],
      faults: [{ ...kill, to: 25_000 }],
    },
  ],
  [
    "bill-true",
    "an answer is in the log twice",
    historyOf(
      withEvent("a", [
        allowedTurn()[7]!,
        event("a2", "agent.message", { content: [{ type: "text", text: "Done ord-1-1-1.2." }] }),
      ]),
    ),
  ],
  [
    "bill-true",
    "the log has an answer that the model did not give",
    { ...honest, replies: honest.replies.slice(0, 1) },
  ],
  [
    "server-runs",
    "the server ended by itself",
    { ...honest, outages: [{ process: "server", type: "ended_by_itself", at: 1, detail: "3" }] },
  ],
];

test.each(FORGED)("%s finds it: %s", (invariant, _, history) => {
  expect(checkHistory(history).map((violation) => violation.invariant)).toContain(invariant);
});

test("every invariant is shown to find a violation", () => {
  expect(new Set(FORGED.map(([invariant]) => invariant))).toEqual(new Set(INVARIANTS.map(({ name }) => name)));
});
