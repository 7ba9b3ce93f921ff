import type { Message } from "@tandem/protocol";
import { lazy, Suspense } from "react";
import { isPainted } from "../../../live/first-paint.ts";
import { useLive } from "../../../live/live-value.ts";
import { count, duration, money, share } from "../../../text/format.ts";
import { useSession } from "../../../state/session-context.ts";
import { useFold } from "../fold-state.tsx";
import { cacheShare, type TurnTotals } from "./turn-totals.ts";

const TurnTimeline = lazy(() => import("./turn-timeline.tsx"));

const SHOWN_WAIT_MS = 1_000;

/** Duration, tokens and cost of a turn. A click shows its timeline. */
export function TurnFooter({
  sum,
  miss,
  messages,
}: {
  sum: TurnTotals;
  miss: string | undefined;
  messages: readonly Message[];
}) {
  const [isOpen, toggle] = useFold(`${sum.turn}:timeline`, false);
  const { agent } = useSession();
  const cached = cacheShare(sum);
  const read = sum.inputTokens + sum.cacheReadTokens + sum.cacheWriteTokens;
  const waited = sum.waitedMs < SHOWN_WAIT_MS ? "" : `, waited ${duration(sum.waitedMs)} for you`;
  const words = [
    agent,
    sum.models.join(", "),
    sum.activeMs === undefined ? undefined : `${duration(sum.activeMs)} active${waited}`,
    ...(useLive(isPainted)
      ? [
          `${count(read)} in, ${count(sum.outputTokens)} out`,
          cached === undefined ? undefined : `${share(cached)} cached`,
          sum.usd === undefined ? undefined : money(sum.usd),
        ]
      : []),
  ].filter((word) => word !== undefined && word !== "");
  const title = [
    `${sum.requests} model requests`,
    `${sum.cacheReadTokens} tokens from the cache, ${sum.cacheWriteTokens} written to it, ${sum.inputTokens} uncached`,
  ].join("; ");
  return (
    <>
      <div className="pt-1 pb-3 text-xs text-ink-faint">
        <button
          type="button"
          aria-expanded={isOpen}
          onClick={toggle}
          title={title}
          className="min-h-6 rounded text-left hover:text-ink pointer-coarse:min-h-10"
        >
          {words.join(" · ")}
          <span className="sr-only">, timeline</span>
        </button>
        {miss !== undefined && <p className="text-wait">Cache miss: {miss}</p>}
      </div>
      {isOpen && (
        <Suspense fallback={null}>
          <TurnTimeline messages={messages} />
        </Suspense>
      )}
    </>
  );
}
