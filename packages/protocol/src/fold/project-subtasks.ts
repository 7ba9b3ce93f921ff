import type { UserContent } from "../events/content.ts";
import type { PartOf } from "./message.ts";
import { contentParts } from "./project-content.ts";
import type { Timeline } from "./project-timeline.ts";
import type { EventOf, LoggedEvent } from "../events/session-event.ts";

type SubtaskPart = PartOf<"subtask">;

export function beginSubtask(timeline: Timeline, entry: LoggedEvent, event: EventOf<"session.thread_created">): void {
  const { session_thread_id: thread, agent_name: agent } = event;
  put(timeline, entry, { ...(timeline.find("subtask", thread) ?? unknownSubtask(thread)), agent });
}

/** Threads without a part are ignored: the primary thread has status events, too. */
export function changeSubtask(
  timeline: Timeline,
  event: EventOf<"session.thread_status_running" | "session.thread_status_idle" | "session.thread_status_terminated">,
): void {
  const subtask = timeline.find("subtask", event.session_thread_id);
  if (!subtask) return;
  const agent = event.agent_name;
  const ended_at = event.processed_at;
  switch (event.type) {
    case "session.thread_status_running":
      return timeline.replace({ ...subtask, agent, status: "running", stop_reason: null, ended_at: null });
    case "session.thread_status_idle":
      return timeline.replace({ ...subtask, agent, status: "idle", stop_reason: event.stop_reason.type, ended_at });
    case "session.thread_status_terminated":
      return timeline.replace({ ...subtask, agent, status: "terminated", ended_at });
  }
}

/** The requests of a subagent are on its own thread, so its caller's turn would lack their price. */
export function priceSubtasks(timeline: Timeline, { tandem }: EventOf<"session.usage">): void {
  for (const [thread, { usd }] of Object.entries(tandem?.by_thread ?? {})) {
    const subtask = timeline.find("subtask", thread);
    if (subtask && subtask.usd !== usd) timeline.replace({ ...subtask, usd });
  }
}

/** Messages between agents: part of the subtask on the caller's thread, a message on the subagent's own thread. */
export function exchange(
  timeline: Timeline,
  entry: LoggedEvent,
  words: { type: "sent" | "received"; other: string; agent: string | null; content: UserContent[] },
): void {
  const { type, other, agent, content } = words;
  const isBelow = timeline.threadOf(other) === entry.thread;
  if (!isBelow && entry.thread !== null) {
    // On this thread, the other agent is the caller. Its messages are already on this thread.
    if (type === "sent") return;
    const parts = contentParts(entry.event.id, content, entry.event.processed_at);
    return timeline.beginWith("user", entry, parts, { delivery: { type: "taken" } });
  }
  const subtask = timeline.find("subtask", other) ?? { ...unknownSubtask(other), agent };
  put(timeline, entry, { ...subtask, exchange: [...subtask.exchange, { type, content }] });
}

function put(timeline: Timeline, entry: LoggedEvent, subtask: SubtaskPart): void {
  if (timeline.has(subtask.id)) timeline.replace(subtask);
  else timeline.addToAgent(entry, { ...subtask, at: entry.event.processed_at });
}

const unknownSubtask = (thread: string): SubtaskPart => ({
  type: "subtask",
  id: thread,
  at: null,
  thread,
  agent: null,
  status: "running",
  stop_reason: null,
  exchange: [],
  ended_at: null,
});
