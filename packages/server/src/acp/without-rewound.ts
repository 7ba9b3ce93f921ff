import type { LoggedEvent } from "@tandem/protocol";

/** The log without events that a rewind removed. */
export function withoutRewound(events: readonly LoggedEvent[]): LoggedEvent[] {
  const undone = new Set(events.flatMap(({ event }) => (event.type === "tandem.rewound" && event.undoes) || []));
  const seqs = new Map(events.map(({ seq, event }) => [event.id, seq]));
  const spans = events.flatMap(({ seq, event }) => {
    if (event.type !== "tandem.rewound" || event.scope === "files" || undone.has(event.id)) return [];
    const from = event.to_message_id === null ? undefined : seqs.get(event.to_message_id);
    return from === undefined ? [] : [{ from, to: seq }];
  });
  return events.filter(({ seq }) => !spans.some(({ from, to }) => seq >= from && seq < to));
}
