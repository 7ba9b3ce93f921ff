import { contextWindowOf, type Message, type ModelUsage, type Part, type PartOf } from "@tandem/protocol";

/** Context window usage according to the last model request. */
export interface ContextUsage {
  tokens: number;
  /** Undefined if the model's window is unknown. */
  window: number | undefined;
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

/** The model of the latest request of the main thread. */
export function lastModel(messages: readonly Message[]): string | undefined {
  for (const { parts, thread } of messages.toReversed()) {
    const step = thread === null ? parts.findLast((part) => part.type === "step" && part.model !== null) : undefined;
    if (step?.type === "step") return step.model ?? undefined;
  }
  return undefined;
}

/** `models` is the server's list, for models that the table of sizes lacks. */
export function contextUsage(
  measured: PartOf<"step" | "compaction"> | undefined,
  lastModel: string | undefined,
  models: readonly SizedModel[] = [],
): ContextUsage | undefined {
  if (!measured) return undefined;
  if (measured.type === "compaction") {
    const tokens = measured.tokens_after ?? 0;
    return { tokens, window: windowOf(lastModel ?? null, models), last: undefined, model: lastModel ?? null };
  }
  const { usage, model } = measured;
  if (!usage) return undefined;
  const tokens =
    usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens + usage.output_tokens;
  return { tokens, window: windowOf(model, models), last: usage, model };
}

interface SizedModel {
  id: string;
  max_input_tokens: number | null;
}

const windowOf = (model: string | null, models: readonly SizedModel[]): number | undefined =>
  model === null
    ? undefined
    : (contextWindowOf(model) ?? models.find(({ id }) => id === model)?.max_input_tokens ?? undefined);
