import type { Message, PartOf } from "@tandem/protocol";
import { duration } from "../../text/format.ts";

type Step = PartOf<"step">;

/** Shorter prompts are never cached. */
const SHORTEST = 2_048;
/** A request counts as a hit if at least this share of the common prefix came from the cache. */
const KEPT = 0.5;
const PAUSE_MS = 5 * 60_000;

/** The last answered request of a turn. */
export const lastStepOf = (messages: readonly Message[]): Step | undefined => stepsOf(messages).at(-1)?.step;

/** Why this turn missed the prompt cache; undefined if it did not. */
export function cacheMissOf(messages: readonly Message[], before: Step | undefined): string | undefined {
  let last = before;
  for (const { step, isCompacted } of stepsOf(messages)) {
    const why = last && missBetween(last, step, isCompacted);
    if (why !== undefined) return why;
    last = step;
  }
  return undefined;
}

function stepsOf(messages: readonly Message[]): { step: Step; isCompacted: boolean }[] {
  const steps: { step: Step; isCompacted: boolean }[] = [];
  let isCompacted = false;
  for (const part of messages.flatMap(({ parts, thread }) => (thread === null ? parts : []))) {
    if (part.type === "compaction") isCompacted = true;
    if (part.type !== "step" || part.state !== "completed" || !part.usage || isInferred(part)) continue;
    steps.push({ step: part, isCompacted });
    isCompacted = false;
  }
  return steps;
}

/**
 * A summary request is only inferred from its usage afterwards. It has no real duration and continues no conversation.
 */
const isInferred = ({ duration_ms }: Step): boolean => duration_ms !== null && duration_ms < 10;

function missBetween(before: Step, now: Step, isCompacted: boolean): string | undefined {
  const shared = Math.min(inputTokens(before), inputTokens(now));
  if (shared < SHORTEST || (now.usage?.cache_read_input_tokens ?? 0) >= shared * KEPT) return undefined;
  if (before.model !== null && now.model !== before.model) return `the model changed from ${before.model}`;
  if (isCompacted) return "the conversation was compacted";
  const pause = before.at === null || now.at === null ? 0 : Date.parse(now.at) - endOf(before);
  if (pause >= PAUSE_MS) return `${duration(pause)} passed since the previous request`;
  return "tools, instructions or the start of the conversation changed";
}

const inputTokens = ({ usage }: Step): number =>
  usage ? usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens : 0;

const endOf = ({ at, duration_ms }: Step): number => Date.parse(at ?? "") + (duration_ms ?? 0);
