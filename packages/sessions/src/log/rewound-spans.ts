import type { EventOf, SessionId } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";

/** A range of the log that is no longer in the agent's context. */
export interface RewoundSpan {
  from: number;
  to: number;
}

/** A limit on consecutive rewinds that are followed. */
const MOST = 1_000;

/** The ranges of a session's log that rewinds removed from the agent's context. */
export async function rewoundSpans(log: EventLog, session: SessionId): Promise<RewoundSpan[]> {
  const found = await log.read(session, { order: "desc", limit: MOST, types: ["tandem.rewound"] });
  const undone = new Set<string>();
  const spans: RewoundSpan[] = [];
  for (const { seq, event } of found) {
    const { id, scope, to_message_id: target, undoes } = event as EventOf<"tandem.rewound">;
    if (undoes !== undefined) undone.add(undoes);
    if (undoes !== undefined || undone.has(id) || scope === "files" || target === null) continue;
    const message = await log.find(session, target);
    if (message) spans.push({ from: message.seq, to: seq });
  }
  return spans;
}

export const isRewound = (seq: number, spans: readonly RewoundSpan[]): boolean =>
  spans.some(({ from, to }) => seq >= from && seq < to);
