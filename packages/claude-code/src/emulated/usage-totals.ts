import { costOf } from "@tandem/protocol";
import type { ModelAnswer } from "./ask-model.ts";

type Totals = Record<string, { inputTokens: number; outputTokens: number; costUSD: number } & Record<string, number>>;

/** Usage of a conversation by model, in Claude Code's format. */
export class UsageTotals {
  readonly byModel: Totals = {};

  count({ model, usage }: Pick<ModelAnswer, "model" | "usage">): void {
    const total = (this.byModel[model] ??= {
      inputTokens: 0,
      outputTokens: 0,
      cacheReadInputTokens: 0,
      cacheCreationInputTokens: 0,
      costUSD: 0,
    });
    const used = {
      inputTokens: usage.input_tokens,
      outputTokens: usage.output_tokens,
      cacheReadTokens: usage.cache_read_input_tokens,
      cacheWrite5mTokens: usage.cache_creation_input_tokens,
      cacheWrite1hTokens: 0,
      webSearches: 0,
    };
    total.inputTokens += used.inputTokens;
    total.outputTokens += used.outputTokens;
    total["cacheReadInputTokens"]! += used.cacheReadTokens;
    total["cacheCreationInputTokens"]! += used.cacheWrite5mTokens;
    total.costUSD += costOf(model, used)?.usd ?? 0;
  }
}
