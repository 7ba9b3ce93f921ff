import { isPainted } from "../../live/first-paint.ts";
import { useLive } from "../../live/live-value.ts";
import { count, duration, money, share } from "../../text/format.ts";
import { useSession } from "../../state/session-context.ts";
import { cacheShare, type TurnTotals } from "./turn-totals.ts";

const SHOWN_WAIT_MS = 1_000;

/** Duration, tokens and cost of a turn. */
export function TurnFooter({ sum, miss }: { sum: TurnTotals; miss: string | undefined }) {
  const { agent } = useSession();
  const cached = cacheShare(sum);
  const read = sum.inputTokens + sum.cacheReadTokens + sum.cacheWriteTokens;
  const waited = sum.waitedMs < SHOWN_WAIT_MS ? "" : `, waited ${duration(sum.waitedMs)} for you`;
  const words = [
    agent,
    sum.models.join(", "),
    sum.activeMs === undefined ? undefined : `took ${duration(sum.activeMs)}${waited}`,
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
    `${sum.cacheReadTokens} tokens from the cache, ${sum.cacheWriteTokens} written to it, ${sum.inputTokens} read anew`,
  ].join("; ");
  return (
    <p className="pt-1 pb-3 text-xs text-ink-faint" title={title}>
      {words.join(" · ")}
      {miss !== undefined && <span className="block text-wait">Read anew instead of from the cache: {miss}</span>}
    </p>
  );
}
