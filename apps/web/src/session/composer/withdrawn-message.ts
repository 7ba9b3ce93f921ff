import type { Message } from "@tandem/protocol";
import { api } from "../../api/client.ts";
import { LiveValue } from "../../live/live-value.ts";

/** Words that come back to where they were written: those of a message that was taken back. */
export const returned = new LiveValue<{ session: string; text: string } | undefined>(undefined);

/** Takes back a message that no turn has taken. Its words go where they can be changed. */
export async function takeBack(session: string, { id, parts }: Message): Promise<void> {
  await api.delete(`/v1/sessions/${session}/events/${id}`);
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
  returned.set({ session, text });
}

export const isWaiting = ({ delivery, thread }: Message): boolean => delivery?.type === "waiting" && thread === null;
