import type { SessionEventBody } from "@tandem/protocol";
import type { EventLog } from "@tandem/storage";
import type { SessionWriter } from "../log/session-writer.ts";
import type { TurnInput } from "../log/outcome-prompt.ts";
import { cutShortOf } from "./turn-end.ts";
import type { Delay, Refusal } from "../hooks/turn-hook.ts";

/**
 * Logs once per message why it cannot begin a turn. The message stays in the input queue and is offered again.
 */
export async function refuseMessage(
  log: EventLog,
  writer: SessionWriter,
  message: TurnInput,
  { reason, events }: Refusal | Delay,
): Promise<void> {
  if (!reason) {
    if (events.length > 0) await writer.write(events);
    return;
  }
  const [last] = await log.read(writer.row.id, { order: "desc", limit: 1, types: ["session.status_idle"] });
  // Ids grow with time.
  const isSaid =
    last?.event.type === "session.status_idle" &&
    last.event.stop_reason.type === reason.type &&
    last.event.id > message.id;
  if (isSaid) return;
  const idle: SessionEventBody = { type: "session.status_idle", stop_reason: reason, stop_details: null };
  await writer.write([...events, idle], { cutShort: cutShortOf(reason) });
}
