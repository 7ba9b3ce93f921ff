import type { Approval, LoggedEvent, Session } from "@tandem/protocol";
import type { RunningEngine } from "./engine-stage.ts";

export const isOver = ({ event }: LoggedEvent): boolean =>
  event.type === "session.status_idle" && event.stop_reason.type !== "requires_action";

/** Whether a session waits for this many answers. */
export const waitsFor =
  (count: number) =>
  ({ event }: LoggedEvent): boolean =>
    event.type === "session.status_idle" &&
    event.stop_reason.type === "requires_action" &&
    event.stop_reason.event_ids.length === count;

/** Sends a message and returns the pending calls, oldest first. */
export async function untilAsked(
  running: RunningEngine,
  session: Session,
  { words = "Do it.", count = 1 }: { words?: string; count?: number } = {},
): Promise<Approval[]> {
  const head = await running.engine.sessions.head(session.id);
  await running.say(session, words);
  await running.until(session, waitsFor(count), head);
  return pendingOf(running, session);
}

export async function pendingOf({ engine }: RunningEngine, { id }: Session): Promise<Approval[]> {
  const { data } = await engine.approvals.list({ status: "pending", session: id, limit: 10 });
  return data.toReversed();
}

export const allow = { result: "allow" as const, scope: "once" as const };
export const deny = { result: "deny" as const, scope: "once" as const };
