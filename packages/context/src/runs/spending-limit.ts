import { costOf, noUsage, TandemError, type Usage } from "@tandem/protocol";
import { resolveModel } from "@tandem/runtime";
import type { Budget } from "./metered-llm.ts";

/** The expected requests of a job and their list price; null if a model's price is unknown. */
export interface Estimate {
  requests: number;
  usd: number | null;
}

/** Rejects a job that would spend more than its limit, before its first model request. */
export function requireWithinLimit(kind: string, { requests, usd }: Estimate, limit: Budget | undefined): void {
  if (!limit) return;
  const isOver = requests > (limit.requests ?? Infinity) || (usd ?? 0) > (limit.usd ?? Infinity);
  if (!isOver) return;
  const price = usd === null ? "an unknown price" : `about ${dollars(usd)}`;
  const limits = [
    ...(limit.usd === undefined ? [] : [dollars(limit.usd)]),
    ...(limit.requests === undefined ? [] : [`${count(limit.requests)} requests`]),
  ];
  throw new TandemError(
    "over_budget",
    `The ${kind} would make about ${count(requests)} model requests for ${price}; its limit is ${limits.join(" and ")}. It was not started.`,
    {
      fix: "Start it with --yes (over HTTP: `confirmed: true`), raise `context.budget` in tandem.yaml or `--max-usd`, or read less at once.",
    },
  );
}

/** Priced per request, because some models charge more for long ones. Aliases are resolved. */
export function estimateUsd(
  model: string,
  { requests, inputTokens, outputTokens }: Pick<Usage, "inputTokens" | "outputTokens"> & { requests: number },
): number | null {
  if (requests === 0) return 0;
  const usage = { ...noUsage(), inputTokens: inputTokens / requests, outputTokens: outputTokens / requests };
  const cost = costOf(model, usage) ?? costOf(resolved(model), usage);
  return cost && cost.usd * requests;
}

function resolved(model: string): string {
  try {
    return resolveModel("anthropic", model);
  } catch {
    return model;
  }
}

const dollars = (usd: number): string => `$${usd.toFixed(usd < 0.1 ? 4 : 2)}`;
const count = (value: number): string => value.toLocaleString("en-US");
