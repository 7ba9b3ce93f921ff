import type { Message } from "@tandem/protocol";
import { api } from "../../api/client.ts";
import { messageText } from "../../text/message-text.ts";
import { LiveValue } from "../../live/live-value.ts";

/** The text of a withdrawn message, to be put back into the field. */
export const withdrawnMessage = new LiveValue<{ session: string; text: string } | undefined>(undefined);

/** Withdraws a message that no turn has received yet, and puts its text back into the field. */
export async function withdrawMessage(session: string, { id, parts }: Message): Promise<void> {
  await api.call("sessions.events.take_back", { params: { session_id: session, event_id: id } });
  withdrawnMessage.set({ session, text: messageText(parts) });
}

export const isWaiting = ({ delivery, thread }: Message): boolean => delivery?.type === "waiting" && thread === null;
