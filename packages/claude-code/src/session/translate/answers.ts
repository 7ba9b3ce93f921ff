import type { SDKAssistantMessage, SDKPartialAssistantMessage } from "@anthropic-ai/claude-agent-sdk";
import type { EventId, Interruption, ThreadId } from "@tandem/protocol";
import type { UnloggedAnswer } from "../transcript/unlogged-answers.ts";
import type { Calls } from "./calls.ts";
import type { Emit } from "./emit.ts";

type StreamEvent = SDKPartialAssistantMessage["event"];
type Block = SDKAssistantMessage["message"]["content"][number];

interface Streamed {
  type: string;
  toolUseId: string | undefined;
  id: EventId;
  /** The text received so far. */
  text: string;
}

/**
 * Content blocks of the model's answers. On the primary thread they arrive twice, streamed and complete. The event id
 * is allotted with the first delta, so that previews and event share it.
 */
export class Answers {
  readonly #emit: Emit;
  readonly #calls: Calls;
  /** Blocks being streamed, by index. */
  readonly #streaming = new Map<number, Streamed>();
  #messageId = "";

  constructor(emit: Emit, calls: Calls) {
    this.#emit = emit;
    this.#calls = calls;
  }

  stream(event: StreamEvent): void {
    switch (event.type) {
      case "message_start":
        this.#messageId = event.message.id;
        return this.abandon();
      case "content_block_start":
        return this.#begin(event.index, event.content_block);
      case "content_block_delta":
        return this.#continueBlock(event.index, event.delta);
      case "content_block_stop":
        this.#streaming.delete(event.index);
        return;
      default:
    }
  }

  /** The stream broke and the request is retried: drop the partial blocks. */
  abandon(): void {
    this.#streaming.clear();
  }

  /** No retry follows: emit the partial text as final, because it was already shown. */
  cut(why: Interruption): void {
    for (const { id, text } of this.#streaming.values()) this.#say(null, text, id, this.#messageId, why);
    this.abandon();
  }

  /** Keeps only the text of an interrupted answer. Its calls were not made, and a partial thought is useless. */
  cutBlock(thread: ThreadId | null, block: Block, messageId: string): void {
    if (block.type !== "text") return;
    const id = (thread === null ? this.#allotted(block) : undefined) ?? this.#emit.newEventId();
    this.#say(thread, block.text, id, messageId, "interrupt");
  }

  /** Text that an earlier process of the conversation received. */
  told({ id, texts }: UnloggedAnswer): void {
    for (const text of texts) this.#say(null, text, this.#emit.newEventId(), id);
  }

  block(thread: ThreadId | null, block: Block, messageId: string): void {
    const id = (thread === null ? this.#allotted(block) : undefined) ?? this.#emit.newEventId();
    switch (block.type) {
      case "text":
        return this.#say(thread, block.text, id, messageId);
      case "thinking":
        this.#emit.event(thread, { type: "agent.thinking" }, id);
        this.#emit.event(thread, {
          type: "tandem.thinking",
          thinking_id: id,
          text: block.thinking,
          signature: block.signature || null,
        });
        return;
      case "redacted_thinking":
        this.#emit.event(thread, { type: "agent.thinking" }, id);
        this.#emit.event(thread, { type: "tandem.thinking_redacted", thinking_id: id, data: block.data });
        return;
      case "tool_use":
        return this.#calls.use(thread, block, id);
      default:
        this.#emit.event(thread, { type: "tandem.unknown", kind: `assistant/${block.type}`, message: block }, id);
    }
  }

  #say(thread: ThreadId | null, text: string, id: EventId, messageId: string, interrupted?: Interruption): void {
    if (text === "") return;
    const tandem = { message_id: messageId, ...(interrupted && { interrupted }) };
    this.#emit.event(thread, { type: "agent.message", content: [{ type: "text", text }], tandem }, id);
  }

  #begin(index: number, block: Extract<StreamEvent, { type: "content_block_start" }>["content_block"]): void {
    const id = this.#emit.newEventId();
    const toolUseId = block.type === "tool_use" ? block.id : undefined;
    this.#streaming.set(index, { type: block.type, toolUseId, id, text: "" });
    if (block.type === "text") this.#emit.delta(null, { type: "event_start", event: { type: "agent.message", id } });
    if (block.type === "thinking" || block.type === "redacted_thinking")
      this.#emit.delta(null, { type: "event_start", event: { type: "agent.thinking", id } });
    if (block.type === "tool_use")
      this.#emit.delta(null, { type: "tandem.tool_input_start", event_id: id, name: this.#calls.bareName(block.name) });
  }

  #continueBlock(index: number, delta: Extract<StreamEvent, { type: "content_block_delta" }>["delta"]): void {
    const streamed = this.#streaming.get(index);
    if (!streamed) return;
    const { id } = streamed;
    switch (delta.type) {
      case "text_delta":
        streamed.text += delta.text;
        return this.#emit.delta(null, {
          type: "event_delta",
          event_id: id,
          delta: { type: "content_delta", index: 0, content: { type: "text", text: delta.text } },
        });
      case "thinking_delta":
        return this.#emit.delta(null, { type: "tandem.thinking_delta", event_id: id, text: delta.thinking });
      case "input_json_delta":
        if (delta.partial_json)
          this.#emit.delta(null, { type: "tandem.tool_input_delta", event_id: id, json: delta.partial_json });
        return;
      default:
    }
  }

  #allotted(block: Block): EventId | undefined {
    for (const [index, streamed] of this.#streaming) {
      if (streamed.type !== block.type) continue;
      if (block.type === "tool_use" && streamed.toolUseId !== block.id) continue;
      this.#streaming.delete(index);
      return streamed.id;
    }
    return undefined;
  }
}

/** Whether a block is more than a thought or blank text. */
export const isAnswer = (block: Block): boolean =>
  block.type === "text" ? block.text.trim() !== "" : block.type !== "thinking" && block.type !== "redacted_thinking";
