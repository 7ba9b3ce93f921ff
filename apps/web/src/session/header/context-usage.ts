import type { Message, ModelUsage, Part, PartOf } from "@tandem/protocol";

const WINDOW = 200_000;
const LARGE_WINDOW = 1_000_000;

/** Context window usage according to the last model request. */
export interface ContextUsage {
  tokens: number;
  window: number;
  /** Undefined right after a compaction, before the next request. */
  last: ModelUsage | undefined;
  model: string | null;
}

/** The latest measurement: an answered request or a compaction. */
export function lastMeasured(messages: readonly Message[]): PartOf<"step" | "compaction"> | undefined {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const { parts, thread } = messages[index]!;
    const measures = parts.some(isAnswer) ? isMeasure : isCompacted;
    const part = thread === null ? parts.findLast(measures) : undefined;
    if (part) return part as PartOf<"step" | "compaction">;
  }
  return undefined;
}

const isMeasure = (part: Part): boolean =>
  isCompacted(part) || (part.type === "step" && part.usage !== null && part.state === "completed");

const isCompacted = (part: Part): boolean => part.type === "compaction" && part.tokens_after !== null;

/** Requests without visible output, like the one for a summary, are not part of the conversation. */
const isAnswer = ({ type }: Part): boolean =>
  type === "text" || type === "tool" || type === "reasoning" || type === "redacted_reasoning";

/** `models` is the server's list; most entries have a window size. */
export function contextUsage(
  measured: PartOf<"step" | "compaction"> | undefined,
  models: readonly SizedModel[] = [],
): ContextUsage | undefined {
  if (!measured) return undefined;
  if (measured.type === "compaction") {
    return { tokens: measured.tokens_after ?? 0, window: WINDOW, last: undefined, model: null };
  }
  const { usage, model } = measured;
  if (!usage) return undefined;
  const tokens =
    usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens + usage.output_tokens;
  return { tokens, window: windowIn(models, model) ?? windowOf(model, tokens), last: usage, model };
}

interface SizedModel {
  id: string;
  max_input_tokens: number | null;
}

/** A response may name the model with a date suffix that the list omits. */
function windowIn(models: readonly SizedModel[], model: string | null): number | undefined {
  const plain = model?.replace(/-\d{8}$/, "");
  const known = models.find(({ id }) => id === model) ?? models.find(({ id }) => id === plain);
  return known?.max_input_tokens ?? undefined;
}

/** Fallback for models of unknown size: a context larger than the usual window implies the large one. */
const windowOf = (model: string | null, tokens: number): number =>
  model?.includes("[1m]") === true || tokens > WINDOW ? LARGE_WINDOW : WINDOW;
