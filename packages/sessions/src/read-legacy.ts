import type { EventId, EventOf, ThreadId } from "@tandem/protocol";
import type { EventLog, SessionRow } from "@tandem/storage";
import { announcedCalls, openCalls, readOpenTurn, waitingCalls, type OpenCall } from "./open-turn.ts";

/** What a writer leaves behind that has gone in the middle of a turn. */
export interface Legacy {
  /** The messages that the turn has taken. */
  messages: EventId[];
  /** Calls that somebody may still answer. */
  waiting: OpenCall[];
  /** Those of them that clients have been told of. */
  announced: EventId[];
  /** Custom tools whose results may not have reached the model. */
  answered: { call: OpenCall; answer: EventOf<"user.custom_tool_result"> }[];
  /** Calls that were running: what they did is not known. */
  running: OpenCall[];
  /** Model requests that no `session.usage` has counted. */
  uncounted: { thread: ThreadId | null; end: EventOf<"span.model_request_end"> }[];
}

/** Undefined where no turn was open. */
export async function readLegacy(log: EventLog, row: SessionRow): Promise<Legacy | undefined> {
  const events = await readOpenTurn(log, row.id);
  const wasRunning = row.status === "running" || row.status === "rescheduling";
  const asked = waitingCalls(events);
  if (!wasRunning && asked.length === 0) return undefined;
  // A subagent does not outlive its process, and with it goes what it asked for.
  const waiting = wasRunning ? [] : asked.filter(({ thread }) => thread === null);
  const stays = new Set(waiting.map(({ use }) => use.id));
  const uses = new Map(events.map((logged) => [logged.event.id, logged]));
  const counted = events.findLastIndex(({ event }) => event.type === "session.usage");
  return {
    messages: events.flatMap(({ event }) => (event.type === "user.message" ? [event.id] : [])),
    waiting,
    announced: announcedCalls(events),
    answered: events.flatMap(({ thread, event }) => {
      if (event.type !== "user.custom_tool_result" || thread !== null) return [];
      const use = uses.get(event.custom_tool_use_id as EventId)?.event;
      return use?.type === "agent.custom_tool_use" ? [{ call: { thread, use }, answer: event }] : [];
    }),
    running: [...openCalls(events).values()].filter(({ use }) => !stays.has(use.id)),
    uncounted: events
      .slice(counted + 1)
      .flatMap(({ thread, event }) => (event.type === "span.model_request_end" ? [{ thread, end: event }] : [])),
  };
}
