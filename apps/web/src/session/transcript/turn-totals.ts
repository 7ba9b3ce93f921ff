import type { Message } from "@tandem/protocol";

/** What a turn came to. */
export interface TurnTotals {
  turn: string;
  models: readonly string[];
  /** From the message that began it to the last that is known of it. */
  lastedMs: number | undefined;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** List price; undefined where it is not known of any request. */
  usd: number | undefined;
  requests: number;
}

/** Undefined where no model was asked. */
export function turnTotals(messages: readonly Message[]): TurnTotals | undefined {
  const own = messages.filter(({ turn }) => turn !== null);
  const turn = own[0]?.turn;
  const steps = own.flatMap(({ parts }) => parts.filter((part) => part.type === "step"));
  const used = steps.flatMap(({ usage }) => usage ?? []);
  if (typeof turn !== "string" || used.every(({ output_tokens }) => output_tokens === 0)) return undefined;
  const sum = (key: keyof (typeof used)[number]): number => used.reduce((total, usage) => total + usage[key], 0);
  const priced = steps.flatMap(({ usd }) => usd ?? []);
  const times = own.flatMap(({ created_at, parts }) => [
    created_at,
    ...parts.map((part) => (part.type === "tool" && "ended_at" in part.state ? part.state.ended_at : part.at)),
    ...parts.map((part) =>
      part.type === "step" && part.at !== null && part.duration_ms !== null
        ? new Date(Date.parse(part.at) + part.duration_ms).toISOString()
        : null,
    ),
  ]);
  const known = times.flatMap((time) => (time ? [Date.parse(time)] : [])).filter((time) => !Number.isNaN(time));
  return {
    turn,
    models: [...new Set(steps.flatMap(({ model }) => model ?? []))],
    lastedMs: known.length > 1 ? Math.max(...known) - Math.min(...known) : undefined,
    inputTokens: sum("input_tokens"),
    outputTokens: sum("output_tokens"),
    cacheReadTokens: sum("cache_read_input_tokens"),
    cacheWriteTokens: sum("cache_creation_input_tokens"),
    usd: priced.length > 0 ? priced.reduce((total, usd) => total + usd, 0) : undefined,
    requests: steps.length,
  };
}

/** How much of what the model read came from the cache; undefined where it read nothing. */
export function cacheShare({
  inputTokens,
  cacheReadTokens,
  cacheWriteTokens,
}: Pick<TurnTotals, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens">): number | undefined {
  const all = inputTokens + cacheReadTokens + cacheWriteTokens;
  return all === 0 ? undefined : cacheReadTokens / all;
}
