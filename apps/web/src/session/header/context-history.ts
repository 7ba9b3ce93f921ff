import type { Message } from "@tandem/protocol";

/** Tokens in the context window after each request and compaction of the main agent, in order. */
export function contextHistory(messages: readonly Message[]): number[] {
  return messages
    .filter(({ thread }) => thread === null)
    .flatMap(({ parts }) =>
      parts.flatMap((part) => {
        if (part.type === "compaction") return part.tokens_after ?? [];
        if (part.type !== "step" || part.state !== "completed" || !part.usage) return [];
        const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = part.usage;
        return input_tokens + cache_read_input_tokens + cache_creation_input_tokens + output_tokens;
      }),
    );
}
