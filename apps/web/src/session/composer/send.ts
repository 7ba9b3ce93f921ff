import type { SessionEvent, UserContent } from "@tandem/protocol";
import { api } from "../../api/client.ts";
import type { SessionLog } from "../../live/session-log.ts";

/** Puts words to the agent; while a turn runs, after it (`queue`) or into it (`steer`). */
export async function sendMessage(
  log: SessionLog,
  session: string,
  content: readonly UserContent[],
  delivery: "queue" | "steer" | undefined,
): Promise<void> {
  // A command begins a turn of its own, and so does all that may be one: only plain words get into the turn that runs.
  const isPlain = delivery === "steer" && !content.some((block) => block.type === "text" && block.text.startsWith("/"));
  const tandem = { ...(!isPlain && { commands: true }), ...(delivery && { delivery }) };
  const { data } = await post(session, { type: "user.message", content, tandem });
  log.sent(data);
}

/** Ends the turn that is on the screen, and no other that may have begun since. */
export const stopTurn = async (session: string, turn: string | undefined): Promise<void> => {
  await post(session, { type: "user.interrupt", ...(turn !== undefined && { tandem: { turn_event_id: turn } }) });
};

/** Runs a command in the session's folder. What came of it arrives by the log. */
export const runShell = async (session: string, command: string): Promise<void> => {
  await api.post(`/v1/sessions/${session}/shell`, { command });
};

const post = (session: string, event: unknown): Promise<{ data: SessionEvent[] }> =>
  api.post<{ data: SessionEvent[] }>(`/v1/sessions/${session}/events`, { events: [event] });
