import type { BodyInput, SessionEvent, UserContent } from "@tandem/protocol";
import { api } from "../../api/client.ts";
import type { LiveLog } from "../../live/live-log.ts";

type SentEvent = BodyInput<"sessions.events.send">["events"][number];

/** Sends a message. During a turn it is queued after it (`queue`) or delivered into it (`steer`). */
export async function sendMessage(
  log: LiveLog,
  session: string,
  content: UserContent[],
  delivery: "queue" | "steer" | undefined,
): Promise<void> {
  // A command always starts its own turn. Only plain text can steer the running turn.
  const isPlain = delivery === "steer" && !content.some((block) => block.type === "text" && block.text.startsWith("/"));
  const tandem = { ...(!isPlain && { commands: true }), ...(delivery && { delivery }) };
  const { data } = await post(session, { type: "user.message", content, tandem });
  log.showSent(data);
}

/** Names the turn on the screen, so that a race cannot stop a turn that started since. */
export const stopTurn = async (session: string, turn: string | undefined): Promise<void> => {
  await post(session, { type: "user.interrupt", ...(turn !== undefined && { tandem: { turn_event_id: turn } }) });
};

/** Runs a command in the session's folder. Its output arrives in the log. */
export const runShell = async (session: string, command: string): Promise<void> => {
  await api.call("sessions.shell.run", { params: { session_id: session }, body: { command } });
};

const post = (session: string, event: SentEvent): Promise<{ data: SessionEvent[] }> =>
  api.call("sessions.events.send", { params: { session_id: session }, body: { events: [event] } });
