import { type ModelUsage, type SessionErrorDetail } from "@tandem/protocol";
import { TurnFailed } from "./acp-error.ts";
import type { TokenCount } from "./patch.ts";

export interface TurnOutcome {
  stop: "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled";
  usage?: TokenCount;
}

/** A client's message on its way through a turn. */
export class Prompt {
  readonly #outcome = Promise.withResolvers<TurnOutcome>();
  #id: string | undefined;
  #usage: TokenCount = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
  #hasBegun = false;
  isCancelled = false;
  /** The error that ended the turn. */
  error: SessionErrorDetail | undefined;

  constructor() {
    this.#outcome.promise.catch(() => undefined);
  }

  /** The message left the input queue: a turn is processing it. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  begin(): void {
    this.#hasBegun = true;
  }

  /** The id of the message, once it is stored. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Resolves when the turn is over. A cancelled prompt ends as cancelled, never as an error. */
  get outcome(): Promise<TurnOutcome> {
    return this.#outcome.promise;
  }

  sent(id: string): void {
    this.#id = id;
  }

  count(usage: ModelUsage): void {
    this.#usage = {
      input: this.#usage.input + usage.input_tokens,
      output: this.#usage.output + usage.output_tokens,
      cacheRead: this.#usage.cacheRead + usage.cache_read_input_tokens,
      cacheWrite: this.#usage.cacheWrite + usage.cache_creation_input_tokens,
    };
  }

  end({ stop }: Pick<TurnOutcome, "stop">): void {
    const usage = this.#usage;
    if (this.isCancelled || stop === "cancelled") this.#outcome.resolve({ stop: "cancelled", usage });
    else if (this.error?.type === "tool_use_limit_reached_error")
      this.#outcome.resolve({ stop: "max_turn_requests", usage });
    else if (this.error?.tandem?.code === "max_tokens") this.#outcome.resolve({ stop: "max_tokens", usage });
    else if (this.error) this.#outcome.reject(new TurnFailed(this.error));
    else this.#outcome.resolve({ stop, usage });
  }

  fail(error: unknown): void {
    if (this.isCancelled) return this.end({ stop: "cancelled" });
    this.#outcome.reject(error);
  }
}
