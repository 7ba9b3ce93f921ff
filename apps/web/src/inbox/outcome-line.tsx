import type { Approval } from "@tandem/protocol";
import { Ban, Check, Hourglass, X } from "lucide-react";
import { MODE_LABELS } from "../text/mode-labels.ts";
import { TimeAgo } from "../ui/time-ago.tsx";

type Resolved = NonNullable<Approval["resolved"]>;

const LOOKS = {
  allowed: { icon: Check, words: "Allowed", look: "text-good" },
  denied: { icon: X, words: "Denied", look: "text-bad" },
  expired: { icon: Hourglass, words: "Expired (denied)", look: "text-ink-soft" },
  cancelled: { icon: Ban, words: "Cancelled: the turn ended first", look: "text-ink-soft" },
} as const;

/** States of an allowed call that differ from having run. */
const STATES: Partial<Record<NonNullable<Approval["state"]>, string>> = {
  allowed: "has not run yet",
  running: "running",
  failed: "failed",
  interrupted: "did not run",
  unknown: "may have run (its process crashed)",
};

/** The name of browser sign-ins without a user name. */
const PAGE = "page";

const REACHES = { once: "", session: "for this session", always: "always" } as const;

/** The outcome of an approval, and who decided it. */
export function OutcomeLine({
  approval: { kind, state },
  resolved,
}: {
  approval: Pick<Approval, "kind" | "state">;
  resolved: Resolved;
}) {
  const { outcome, by, at, scope, message, edited, mode } = resolved;
  const { icon: Icon, words, look } = LOOKS[outcome];
  const isAnswer = kind === "question" && outcome === "allowed";
  const more = [
    ...(scope && REACHES[scope] !== "" ? [REACHES[scope]] : []),
    ...(edited === true && !isAnswer ? ["with edited input"] : []),
    ...(mode === undefined ? [] : [`mode: ${MODE_LABELS[mode].toLowerCase()}`]),
    ...(outcome === "allowed" && state && STATES[state] ? [STATES[state]] : []),
  ];
  return (
    <p className="flex min-w-0 flex-wrap items-center gap-x-2 gap-y-0.5 text-sm">
      <span className={`flex items-center gap-1 font-medium ${look}`}>
        <Icon aria-hidden className="size-4" />
        {isAnswer ? "Answered" : words}
      </span>
      {(outcome === "allowed" || outcome === "denied") && (
        <span className="text-ink-soft">{by === PAGE ? "in the page" : `by ${by}`}</span>
      )}
      {more.length > 0 && <span className="text-ink-soft">{more.join(", ")}</span>}
      <TimeAgo at={at} className="text-xs text-ink-faint" />
      {message !== undefined && message !== "" && <q className="basis-full text-ink-soft">{message}</q>}
    </p>
  );
}
