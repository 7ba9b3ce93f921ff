import type { Message, ModelUsage } from "@tandem/protocol";

const WINDOW = 200_000;
const LARGE_WINDOW = 1_000_000;

/** How full the model's window is, by the last that it was asked. */
export interface ContextUse {
  tokens: number;
  window: number;
  /** Undefined right after a compaction: nothing has been asked since. */
  last: ModelUsage | undefined;
  model: string | null;
}

export function contextUse(messages: readonly Message[]): ContextUse | undefined {
  for (const { parts, thread } of messages.toReversed()) {
    if (thread !== null) continue;
    for (const part of parts.toReversed()) {
      if (part.type === "compaction" && part.tokens_after !== null)
        return { tokens: part.tokens_after, window: WINDOW, last: undefined, model: null };
      if (part.type !== "step" || part.usage === null || part.state !== "completed") continue;
      const { usage, model } = part;
      const tokens =
        usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens + usage.output_tokens;
      return { tokens, window: windowOf(model, tokens), last: usage, model };
    }
  }
  return undefined;
}

/** Nobody tells how large a model's window is; one that holds more than the usual is of the large kind. */
const windowOf = (model: string | null, tokens: number): number =>
  model?.includes("[1m]") === true || tokens > WINDOW ? LARGE_WINDOW : WINDOW;
