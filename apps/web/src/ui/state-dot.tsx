import type { FeedSession } from "../live/session-feed.ts";

export type SessionState = "waiting" | "stuck" | "running" | "parked" | "idle" | "ended";

export function stateOf({
  status,
  waiting_for,
  cut_short,
}: Pick<FeedSession, "status" | "waiting_for" | "cut_short">): SessionState {
  if (waiting_for.length > 0) return "waiting";
  if (status === "running") return "running";
  if (status === "rescheduling") return "parked";
  if (status === "terminated") return "ended";
  return cut_short ? "stuck" : "idle";
}

export const STATE_WORDS: Readonly<Record<SessionState, string>> = {
  waiting: "Needs you",
  stuck: "Stuck",
  running: "Working",
  parked: "Paused",
  idle: "Idle",
  ended: "Ended",
};

const LOOKS: Readonly<Record<SessionState, string>> = {
  waiting: "bg-wait-mark",
  stuck: "bg-bad",
  running: "bg-accent animate-pulse",
  parked: "bg-accent-soft ring-1 ring-accent",
  idle: "bg-edge",
  ended: "ring-1 ring-edge",
};

/** Colour alone must not carry the state, so screen readers get its label. */
export function StateDot({
  state,
  isSilent = false,
}: {
  state: SessionState;
  /** For dots next to a visible label. */
  isSilent?: boolean;
}) {
  return (
    <span
      className={`inline-block size-2 shrink-0 rounded-full forced-color-adjust-none ${LOOKS[state]}`}
      title={STATE_WORDS[state]}
    >
      {!isSilent && <span className="sr-only">{STATE_WORDS[state]}: </span>}
    </span>
  );
}
