import { emptyHistory, type History, type SeenEvent, type StreamRead } from "../operation-history.ts";

export const SESSION = "sesn_1";
export const CALL = "ord-1-1-1.1";

const made = (id: string, type: string, fields: Record<string, unknown> = {}): SeenEvent => {
  const event = { id, type, processed_at: "2027-01-01T00:00:00Z", ...fields };
  return { id, type, isQueued: false, json: JSON.stringify(event), event };
};

const text = (words: string) => ({ content: [{ type: "text", text: words }] });
const idle = (id: string, stop: object) => made(id, "session.status_idle", { stop_reason: stop });

/** The log of one turn whose call was asked about and allowed. */
export const allowedTurn = (): SeenEvent[] => [
  made("m", "user.message", text("Order ord-1-1-1 approval.")),
  made("r1", "session.status_running"),
  made("use", "agent.tool_use", { name: "bash", input: { command: `echo ${CALL}` }, evaluated_permission: "ask" }),
  idle("wait", { type: "requires_action", event_ids: ["use"] }),
  made("yes", "user.tool_confirmation", { tool_use_id: "use", result: "allow" }),
  made("r2", "session.status_running"),
  made("result", "agent.tool_result", { tool_use_id: "use", is_error: false, ...text(`effect ${CALL}`) }),
  made("a", "agent.message", text("Done ord-1-1-1.2.")),
  idle("end", { type: "end_turn" }),
];

export const event = made;

export const streamOf = (ids: string[]): StreamRead => ({ session: SESSION, ids, listed: [], connections: 1 });

/** A history without any violation. Tests change one thing in it. */
export function honestHistory(events = allowedTurn()): History {
  return {
    ...emptyHistory(),
    orders: [
      {
        key: "ord-1-1-1",
        kind: "approval",
        session: SESSION,
        text: "Order ord-1-1-1 approval.",
        sentAt: 1_000,
        endedAt: 9_000,
        isAcknowledged: true,
      },
    ],
    acknowledgements: [
      { session: SESSION, event: "m", type: "user.message" },
      { session: SESSION, event: "yes", type: "user.tool_confirmation" },
    ],
    answers: [
      { session: SESSION, call: "use", verdict: "allow", client: "client 1", sentAt: 3_000, outcome: "accepted" },
    ],
    reads: [
      { session: SESSION, at: 2_000, events: events.slice(0, 4) },
      { session: SESSION, at: 9_000, events },
    ],
    streams: [streamOf(events.map(({ id }) => id))],
    effects: [
      { id: CALL, at: 4_000, through: "http" },
      { id: CALL, at: 4_000, through: "file" },
    ],
    replies: [
      { order: "ord-1-1-1", number: 1, type: "call", at: 1_500 },
      { order: "ord-1-1-1", number: 2, type: "answer", at: 5_000 },
    ],
    created: [{ type: "session", id: SESSION, isThere: true }],
    settled: [{ session: SESSION, isSettled: true, waitedMs: 8_000, detail: "" }],
  };
}

/** Replaces an event of the log, or removes it. */
export const withEvent = (id: string, replacement?: SeenEvent | readonly SeenEvent[]): SeenEvent[] =>
  allowedTurn().flatMap((one) => (one.id === id ? (replacement ?? []) : one));

/** A history with this log as the only read. */
export const historyOf = (events: SeenEvent[]): History => {
  const history = honestHistory(events);
  return { ...history, reads: history.reads.slice(1), streams: [] };
};
