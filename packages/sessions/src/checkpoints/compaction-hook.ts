import type { ConversationOutput, TurnEnd } from "@tandem/claude-code";
import type { SessionEventBody } from "@tandem/protocol";
import type { TurnHook, TurnStart } from "../hooks/turn-hook.ts";

/**
 * Compacts an idle session whose context is nearly full, so that no turn has to wait for it. Requests it once per compaction.
 */
export class CompactionHook implements TurnHook {
  readonly #share: number;
  readonly #compact: () => void;
  #last: { model: string; tokens: number } | undefined;
  #isAsked = false;

  constructor(share: number, compact: () => void) {
    this.#share = share;
    this.#compact = compact;
  }

  observe({ thread, event }: Extract<ConversationOutput, { type: "event" }>): void {
    if (thread !== null) return;
    if (event.type === "tandem.compaction") {
      this.#last = undefined;
      this.#isAsked = false;
    }
    if (event.type !== "span.model_request_end" || event.is_error || event.tandem.model === undefined) return;
    const { input_tokens, cache_read_input_tokens, cache_creation_input_tokens, output_tokens } = event.model_usage;
    const tokens = input_tokens + cache_read_input_tokens + cache_creation_input_tokens + output_tokens;
    this.#last = { model: event.tandem.model, tokens };
  }

  async after(_turn: TurnStart, { stop, reported }: TurnEnd): Promise<SessionEventBody[]> {
    const window = this.#last && reported[this.#last.model]?.contextWindow;
    if (stop !== "end_turn" || this.#isAsked || !this.#last || !window) return [];
    this.#isAsked = this.#last.tokens >= window * this.#share;
    if (this.#isAsked) this.#compact();
    return [];
  }
}
