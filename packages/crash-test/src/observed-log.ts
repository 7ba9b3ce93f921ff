import type { FaultRecord, History, SeenEvent } from "./operation-history.ts";
import { callIdIn } from "./order-text.ts";

export const sessionsOf = ({ reads }: History): string[] => [...new Set(reads.map(({ session }) => session))];

/** The log of a session as the last read shows it, without queued events. */
export const finalLog = ({ reads }: History, session: string): readonly SeenEvent[] =>
  reads.findLast((read) => read.session === session)?.events.filter(({ isQueued }) => !isQueued) ?? [];

const text = (value: unknown): string => (typeof value === "string" ? value : "");

export interface LoggedCall {
  session: string;
  use: SeenEvent;
  /** The place of the use in the log. */
  index: number;
  isCustom: boolean;
  isAsked: boolean;
  /** The id of the scripted call; undefined for others, such as questions of the server. */
  callId: string | undefined;
  results: readonly SeenEvent[];
  confirmations: readonly SeenEvent[];
}

export function callsOf(history: History, session: string): LoggedCall[] {
  const log = finalLog(history, session);
  return log.flatMap((use, index) => {
    const isCustom = use.type === "agent.custom_tool_use";
    if (!isCustom && use.type !== "agent.tool_use") return [];
    const answers = (type: string, field: string) =>
      log.filter((one) => one.type === type && one.event[field] === use.id);
    return {
      session,
      use,
      index,
      isCustom,
      isAsked: use.event["evaluated_permission"] === "ask",
      // A question about the outcome of a call names that call.
      callId:
        use.event["name"] === "ask_user_question" ? undefined : callIdIn(JSON.stringify(use.event["input"] ?? null)),
      results: isCustom
        ? answers("user.custom_tool_result", "custom_tool_use_id")
        : answers("agent.tool_result", "tool_use_id"),
      confirmations: answers("user.tool_confirmation", "tool_use_id"),
    };
  });
}

export const isRequiresAction = ({ type, event }: SeenEvent): boolean =>
  type === "session.status_idle" && stopReason(event) === "requires_action";

/** The last event of a turn. */
export const isTurnEnd = (event: SeenEvent): boolean =>
  event.type === "session.status_terminated" || (event.type === "session.status_idle" && !isRequiresAction(event));

export function stopReason(event: Record<string, unknown>): string | undefined {
  const reason = event["stop_reason"];
  return typeof reason === "object" && reason !== null && "type" in reason ? text(reason.type) : undefined;
}

/** The ids of the calls that a status waits for. */
export function waitsFor({ event }: SeenEvent): string[] {
  const reason = event["stop_reason"];
  if (typeof reason !== "object" || reason === null || !("event_ids" in reason)) return [];
  return Array.isArray(reason.event_ids) ? reason.event_ids.map(String) : [];
}

/** From an event to the end of its turn, inclusive; to the end of the log if the turn has no end. */
export function untilTurnEnd(log: readonly SeenEvent[], from: number): readonly SeenEvent[] {
  const end = log.findIndex((event, index) => index > from && isTurnEnd(event));
  return log.slice(from, end === -1 ? undefined : end + 1);
}

/** How often a call took effect: a killed command may have reached only one of the two counters. */
export function effectCount({ effects }: History, id: string): number {
  const count = (through: string) => effects.filter((effect) => effect.id === id && effect.through === through).length;
  return Math.max(count("http"), count("file"));
}

/** When a client first saw an event. */
export const firstSeenAt = ({ reads }: History, session: string, id: string): number =>
  reads.find((read) => read.session === session && read.events.some((event) => event.id === id))?.at ?? Infinity;

/** A fault can show for a while after it is over: a lease expires, a connection pool notices. */
const AFTERMATH_MS = 15_000;

/** Faults that can explain an error between two times. */
export const processFaults = ({ faults }: History, from: number, to: number): FaultRecord[] =>
  faults.filter((fault) => fault.hitsProcess && fault.from <= to && fault.to + AFTERMATH_MS >= from);
