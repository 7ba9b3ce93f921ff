import type { LoggedEvent, SessionId } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { unansweredCalls } from "../log/unanswered-calls.ts";
import { openCalls } from "../log/open-turn.ts";
import { isRequestEnd } from "../log/request-end.ts";

/** Checks the invariants of an idle session and returns the violations. `sent` are acknowledged events. */
export async function judgeSession(
  { store }: { store: Store },
  { id }: { id: string },
  sent: readonly string[] = [],
): Promise<string[]> {
  const session = id as SessionId;
  const row = await store.sessions.get(session);
  const events = await store.events.read(session, { limit: 10_000 });
  const queued = await store.inputQueue.list(session);
  if (!row) return ["it is gone"];
  const status = statusOf(events);
  const waiting = unansweredCalls(row).map(({ event_id: event }) => event);
  return [
    ...events.flatMap(({ seq }, index) => (seq === index + 1 ? [] : [`a gap before ${seq}`])),
    ...sent.flatMap((event) => {
      const times = events.filter((logged) => logged.event.id === event).length;
      return times === 1 ? [] : [`${event} is there ${times} times`];
    }),
    ...afterTheEnd(events),
    ...(queued.length > 0 ? [`the input queue has ${queued.map(({ type }) => type).join()}`] : []),
    ...(row.status === status.says ? [] : [`the row says ${row.status}, the log ${status.says}`]),
    ...(waiting.join() === status.waiting.join() ? [] : [`the row waits for ${waiting.join()}`]),
    ...usage(events, row.usage.output_tokens),
  ];
}

function statusOf(events: readonly LoggedEvent[]): { says: string; waiting: readonly string[] } {
  const last = events.findLast(({ event }) => event.type.startsWith("session.status_"))?.event;
  const waits = last?.type === "session.status_idle" && last.stop_reason.type === "requires_action";
  return {
    says: last?.type.replace("session.status_", "").replace("rescheduled", "rescheduling") ?? "idle",
    waiting: waits && last.stop_reason.type === "requires_action" ? last.stop_reason.event_ids : [],
  };
}

/** Between turns, nothing runs and nothing is open. */
function afterTheEnd(events: readonly LoggedEvent[]): string[] {
  const wrong: string[] = [];
  let isOver = true;
  for (const [index, { seq, event }] of events.entries()) {
    if (event.type === "session.status_running") isOver = false;
    else if (isOver && /^(agent\.|span\.|session\.(usage|error|thread))/.test(event.type)) {
      wrong.push(`${event.type} at ${seq}, after the end of a turn`);
    }
    const ends = event.type === "session.status_idle" && event.stop_reason.type !== "requires_action";
    if (!ends && event.type !== "session.status_terminated") continue;
    isOver = true;
    const open = openCalls(events.slice(0, index));
    if (open.size > 0) wrong.push(`${open.size} open calls at ${seq}, the end of a turn`);
  }
  return wrong;
}

/** The row counts the usage of each logged request once. */
function usage(events: readonly LoggedEvent[], counted: number): string[] {
  const requests = new Map<string, number>();
  for (const { event } of events) {
    // In a sandbox, a request that an interrupt cut off is known to its proxy only.
    if (!isRequestEnd(event) || !event.tandem.model) continue;
    requests.set(event.tandem.message_id ?? event.id, event.model_usage.output_tokens);
  }
  const total = [...requests.values()].reduce((sum, tokens) => sum + tokens, 0);
  return total === counted ? [] : [`the row counts ${counted} tokens, the log ${total}`];
}
