import { callStateOf, type PartOf, type ToolCallState } from "@tandem/protocol";
import { Ban, CircleDashed, LoaderCircle, OctagonX, X } from "lucide-react";
import { duration } from "../../../text/format.ts";
import { useNow } from "../../../ui/use-now.ts";

const INTERRUPTED = {
  crash: "The process crashed. The call may have run fully, partly or not at all.",
  interrupt: "Interrupted. The call may have run partly.",
  stopped: "Stopped",
} as const;

/** States of a call that did not run. */
const NOT_RUN: Partial<Record<ToolCallState, string>> = {
  denied: "Denied",
  expired: "Expired",
  interrupted: "Did not run",
};

/** State and duration of a call. */
export function ToolState({ part }: { part: PartOf<"tool"> }) {
  const { state, permission } = part;
  const called = callStateOf(part);
  const now = useNow(state.type === "running");
  const place = "ml-auto flex shrink-0 items-center gap-1 pl-2 text-xs tabular-nums";
  if (NOT_RUN[called] !== undefined)
    return (
      <span className={`${place} text-bad`}>
        <Ban aria-hidden className="size-3.5" /> {NOT_RUN[called]}
      </span>
    );
  if (called === "allowed") return <span className={`${place} text-wait`}>Allowed, not run yet</span>;
  switch (state.type) {
    case "pending":
      return permission?.type === "asked" ? (
        <span className={`${place} text-wait`}>Needs you</span>
      ) : (
        <span className={`${place} text-ink-faint`}>
          <CircleDashed aria-hidden className="size-3.5 animate-pulse" />
          <span className="sr-only">Input is being written</span>
        </span>
      );
    case "running": {
      const ms =
        state.elapsed_seconds === undefined ? elapsedSince(state.started_at, now) : state.elapsed_seconds * 1_000;
      return (
        <span className={`${place} text-accent`}>
          {ms !== undefined && ms >= 1_000 && duration(ms)}
          <LoaderCircle aria-hidden className="size-3.5 animate-spin" />
          <span className="sr-only">Running</span>
        </span>
      );
    }
    case "completed":
      return <span className={`${place} text-ink-faint`}>{durationLabel(state)}</span>;
    case "error":
      return state.interrupted ? (
        <span className={`${place} text-wait`} title={INTERRUPTED[state.interrupted]}>
          <OctagonX aria-hidden className="size-3.5" />
          {state.interrupted === "crash" ? "May have run" : "Interrupted"}
        </span>
      ) : (
        <span className={`${place} text-bad`}>
          {durationLabel(state)}
          <X aria-hidden className="size-3.5" />
          <span className="sr-only">Failed</span>
        </span>
      );
  }
}

const elapsedSince = (time: string | null, now: number): number | undefined =>
  time === null ? undefined : Math.max(0, now - Date.parse(time));

function durationLabel({ started_at, ended_at }: { started_at: string | null; ended_at: string }): string {
  const ms = started_at === null ? Number.NaN : Date.parse(ended_at) - Date.parse(started_at);
  return Number.isNaN(ms) ? "" : duration(ms);
}
