import type { EventOf, SessionId } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";

/** What lies from here up to there in a log is not known to the agent any more. */
export interface RewoundSpan {
  from: number;
  to: number;
}

/** A session that was rewound more often than this in a row is beyond help. */
const MOST = 1_000;

/** The stretches of a session's log that its agent does not remember, because the conversation was rewound. */
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
