import type { Message, Part } from "@tandem/protocol";
import { waitedMs } from "./waited-ms.ts";

export interface TurnTotals {
  turn: string;
  models: readonly string[];
  /** From the first message to the last known event of the turn, without `waitedMs`. */
  activeMs: number | undefined;
  /** Waiting for a person, or for the result of a custom tool. */
  waitedMs: number;
  inputTokens: number;
  outputTokens: number;
  cacheReadTokens: number;
  cacheWriteTokens: number;
  /** List price, with subagents; undefined if no request has a known price. */
  usd: number | undefined;
  requests: number;
}

/** Undefined if no model was called. */
export function turnTotals(messages: readonly Message[]): TurnTotals | undefined {
  const own = messages.filter(({ turn }) => turn !== null);
  const turn = own[0]?.turn;
  const steps = own.flatMap(({ parts }) => parts.filter((part) => part.type === "step"));
  const used = steps.flatMap(({ usage }) => usage ?? []);
  if (typeof turn !== "string" || used.every(({ output_tokens }) => output_tokens === 0)) return undefined;
  const sum = (key: Exclude<keyof (typeof used)[number], "speed">): number =>
    used.reduce((total, usage) => total + usage[key], 0);
  const priced = [...steps.flatMap(({ usd }) => usd ?? []), ...subagentPrices(own)];
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
  const waited = waitedMs(own);
  return {
    turn,
    models: [...new Set(steps.flatMap(({ model }) => model ?? []))],
    activeMs: known.length > 1 ? Math.max(0, Math.max(...known) - Math.min(...known) - waited) : undefined,
    waitedMs: waited,
    inputTokens: sum("input_tokens"),
    outputTokens: sum("output_tokens"),
    cacheReadTokens: sum("cache_read_input_tokens"),
    cacheWriteTokens: sum("cache_creation_input_tokens"),
    usd: priced.length > 0 ? priced.reduce((total, usd) => total + usd, 0) : undefined,
    requests: steps.length,
  };
}

/** The prices of subagents whose own requests are not among the messages. */
function subagentPrices(messages: readonly Message[]): number[] {
  const shown = new Set(messages.flatMap(({ thread, parts }) => (parts.some(isStep) ? thread : [])));
  const agents = messages.flatMap(({ parts }) =>
    parts.flatMap((part): readonly { thread: string; usd?: number | null }[] => {
      if (part.type === "workflow") return part.agents;
      return part.type === "subtask" ? [part] : [];
    }),
  );
  return agents.flatMap(({ thread, usd }) => (shown.has(thread) ? [] : (usd ?? [])));
}

const isStep = ({ type }: Part): boolean => type === "step";

/** The share of input tokens read from the cache; undefined without input. */
export function cacheShare({
  inputTokens,
  cacheReadTokens,
  cacheWriteTokens,
}: Pick<TurnTotals, "inputTokens" | "cacheReadTokens" | "cacheWriteTokens">): number | undefined {
  const all = inputTokens + cacheReadTokens + cacheWriteTokens;
  return all === 0 ? undefined : cacheReadTokens / all;
}
