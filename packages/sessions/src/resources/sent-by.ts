import { newId, type ClientEvent, type EventId, type SessionEvent, isoNow, type Clock } from "@tandem/protocol";
import { outcomeEvent } from "../outcomes/check-outcome.ts";

/** A client event for the input queue, with an id and its sender. Overwrites a sender set by the client. */
export function sentBy(
  event: ClientEvent,
  by: string | undefined,
  clock: Clock,
  id: EventId = newId("event"),
): SessionEvent {
  if (event.type === "user.define_outcome") return outcomeEvent(event, { id, by, at: isoNow(clock) });
  const place = { id, processed_at: null };
  const answerer = by ?? "unknown";
  if (event.type === "user.tool_confirmation") return { ...event, tandem: { scope: "once", by: answerer }, ...place };
  // The hosted service accepts a result at once.
  if (event.type === "user.custom_tool_result" || event.type === "user.tool_result")
    return { ...event, tandem: { by: answerer }, id, processed_at: isoNow(clock) };
  const { tandem, ...rest } = event;
  const { by: _, ...said } = tandem ?? {};
  const note = { ...said, ...(by !== undefined && { by }) };
  if ("waits_for" in note) delete note.waits_for;
  return { ...rest, ...(Object.keys(note).length > 0 && { tandem: note }), ...place };
}
