import type { CallReport } from "@tandem/protocol";
import { PAYERS } from "@tandem/tandem/project";

/** Shorter waits are not shown. */
const NOTICEABLE_MS = 500;

/** `claude-sonnet-5 · your Claude login · 1,234 in, 56 out · $0.0041 at list price · 1.2 s`. */
export function describeReport(report: CallReport): string {
  const { usageByModel, model, payer, usage, cost, latencyMs, waitedMs, attempts } = report;
  const cached = usage.cacheReadTokens + usage.cacheWrite5mTokens + usage.cacheWrite1hTokens;
  const number = (value: number) => value.toLocaleString("en-US");
  const seconds = (value: number) => `${(value / 1000).toFixed(1)} s`;
  return [
    Object.keys(usageByModel).join(", ") || model,
    PAYERS[payer],
    `${number(usage.inputTokens + cached)} in, ${number(usage.outputTokens)} out`,
    cost ? `$${cost.usd.toFixed(4)} at list price` : "price unknown",
    seconds(latencyMs) + (waitedMs >= NOTICEABLE_MS ? `, including ${seconds(waitedMs)} of waiting` : ""),
    attempts > 1 ? `${attempts} tries` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}
