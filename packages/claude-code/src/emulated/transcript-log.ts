import { randomUUID } from "node:crypto";
import { z } from "zod";
import type { TranscriptStore } from "../session/conversation.ts";
import { messageUuids, type TranscriptLine } from "../session/transcript/transcript-line.ts";
import type { ModelBlock, ModelMessage } from "./stream-model.ts";

const line = z.looseObject({
  type: z.enum(["user", "assistant"]),
  message: z.looseObject({ content: z.union([z.string(), z.array(z.looseObject({ type: z.string() }))]) }),
});

/** The transcript of a conversation, in Claude Code's format, and its copy in the store. */
export class TranscriptLog {
  readonly #store: TranscriptStore;
  readonly #lines: TranscriptLine[] = [];
  readonly #remembered = new Set<string>();
  #stored: Promise<void> = Promise.resolve();

  constructor(store: TranscriptStore) {
    this.#store = store;
  }

  get lines(): readonly TranscriptLine[] {
    return this.#lines;
  }

  async load(): Promise<void> {
    this.#lines.push(...(await this.#store.load("")));
    for (const uuid of this.#lines.flatMap(messageUuids)) this.#remembered.add(uuid);
  }

  /** Whether an earlier process received the message. */
  remembers(uuid: string): boolean {
    return this.#remembered.has(uuid);
  }

  add(role: "user" | "assistant", message: Record<string, unknown>, uuid: string = randomUUID()): void {
    const parentUuid = this.#lines.at(-1)?.["uuid"] ?? null;
    const timestamp = new Date().toISOString();
    this.append([{ type: role, uuid, parentUuid, timestamp, isSidechain: false, message: { role, ...message } }]);
  }

  append(lines: readonly TranscriptLine[]): void {
    if (lines.length === 0) return;
    this.#lines.push(...lines);
    this.#stored = this.#stored.then(() => this.#store.append("", lines));
    // A failure shows when the transcript is flushed.
    this.#stored.catch(() => undefined);
  }

  flush(): Promise<void> {
    return this.#stored;
  }

  /** The conversation as the model gets it: neighbouring messages of one role are one. */
  get messages(): ModelMessage[] {
    const messages: { role: "user" | "assistant"; content: ModelBlock[] }[] = [];
    for (const each of this.#lines) {
      const { data } = line.safeParse(each);
      if (!data) continue;
      const { content } = data.message;
      const blocks = typeof content === "string" ? [{ type: "text", text: content }] : content;
      const last = messages.at(-1);
      if (last?.role === data.type) last.content.push(...blocks);
      else messages.push({ role: data.type, content: [...blocks] });
    }
    return messages;
  }
}
