import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import type { LlmError } from "@tandem/protocol";
import { timedOut } from "../../process-errors.ts";
import type { ConversationSetup } from "../conversation.ts";

/**
 * Times out a turn without activity while the model is requested or answering. Tools, approvals and background tasks
 * may take as long as they need.
 */
export class TurnWatchdog {
  readonly #deadlines: ConversationSetup["deadlines"];
  readonly #onLate: (error: LlmError) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(deadlines: ConversationSetup["deadlines"], onLate: (error: LlmError) => void) {
    this.#deadlines = deadlines;
    this.#onLate = onLate;
  }

  /** A message was sent or a turn continues: Claude Code must start. */
  begin(): void {
    this.#within(this.#deadlines.init, "begin the turn (init)");
  }

  rest(): void {
    clearTimeout(this.#timer);
  }

  observe(message: SDKMessage, turn: { underWay: boolean; waitsForTools: boolean }): void {
    if ("parent_tool_use_id" in message && message.parent_tool_use_id !== null) return;
    if (!turn.underWay) return this.rest();
    const { firstByte, idle } = this.#deadlines;
    switch (message.type) {
      case "stream_event":
        if (message.event.type !== "message_stop") return this.#within(idle, "continue its answer (idle)");
        return this.#after(turn);
      case "user":
        return this.#after(turn);
      case "system":
        if (message.subtype === "init") return this.begin();
        if (message.subtype === "status") return this.#within(firstByte, "begin its answer (firstByte)");
        if (message.subtype === "api_retry")
          return this.#within(message.retry_delay_ms + firstByte, "begin its answer (firstByte)");
        return;
      default:
    }
  }

  /** An answer or result is complete: tools run, or Claude Code continues. */
  #after({ waitsForTools }: { waitsForTools: boolean }): void {
    const { firstByte, idle } = this.#deadlines;
    // After a broken stream the answer is requested again unstreamed, so there is no activity until it arrives.
    if (waitsForTools) this.rest();
    else this.#within(firstByte + idle, "continue the turn (firstByte, idle)");
  }

  #within(ms: number, what: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#onLate(timedOut(what, ms)), ms);
  }
}
