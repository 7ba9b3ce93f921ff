import type { SDKMessage } from "@anthropic-ai/claude-agent-sdk";
import {
  type EventId,
  LlmError,
  type SessionEventBody,
  type ThreadId,
  userContent,
  type UserContent,
} from "@tandem/protocol";
import { z } from "zod";
import type { ConversationOutput } from "../session/conversation.ts";
import { Translator } from "../session/translate/translator.ts";
import { EventIds } from "./event-ids.ts";

/** An output derived from a line of Claude Code's, and its time. */
export interface PastOutput {
  /** Undefined if the line has no time. */
  at: string | undefined;
  output: ConversationOutput | Prompt;
}

/** A message to the model. `uuid` is the id of its line, if it has one. */
interface Prompt {
  type: "prompt";
  id: EventId;
  uuid: string | undefined;
  content: UserContent[];
}

/** No server has this name: custom tools of foreign conversations do not exist here. */
const NO_SERVER = "\0";

/**
 * Adapts the translator of our own conversations to foreign ones by feeding it their messages. An unparsable message is
 * kept as it is.
 */
export class PastTranslator {
  readonly #ids: EventIds;
  readonly #translator: Translator;
  #outputs: PastOutput[] = [];
  #at: string | undefined;

  constructor(conversation: string, primaryThread: ThreadId) {
    this.#ids = new EventIds(conversation);
    this.#translator = new Translator({
      newEventId: this.#ids.next,
      threadIdOf: this.#ids.threadOf,
      primaryThread,
      names: { customServer: NO_SERVER, mcpServers: [] },
      outputExpected: false,
      // Permissions were decided elsewhere; `unjudged` removes the decision from the events.
      judge: () => ({ permission: "allow" }),
    });
  }

  /** Sets the line that the following outputs derive from. */
  begin(line: string, at: string | undefined): void {
    this.#ids.at(line);
    this.#at = at ?? this.#at;
  }

  say(message: Record<string, unknown>): ConversationOutput[] {
    try {
      return this.#put(this.#translator.accept({ type: "message", message: message as unknown as SDKMessage }));
    } catch {
      this.unknown(String(message["type"]), message);
      return [];
    }
  }

  /** A line of a subagent's transcript; it contains the usage of an answer. */
  transcript(line: unknown): void {
    this.#put(this.#translator.accept({ type: "transcript", line }));
  }

  event(event: SessionEventBody): void {
    this.#put([{ type: "event", thread: null, id: this.#ids.next(), event }]);
  }

  unknown(kind: string, message: unknown): void {
    this.event({ type: "tandem.unknown", kind, message });
  }

  prompt(content: UserContent[], uuid: string | undefined): void {
    this.#outputs.push({ at: this.#at, output: { type: "prompt", id: this.#ids.next(), uuid, content } });
  }

  /** The input ended although more was expected. */
  breakOff(message: string): void {
    const error = new LlmError("process_died", message);
    this.#put(this.#translator.accept({ type: "ended", error, turnExpected: true }));
  }

  take(): PastOutput[] {
    const outputs = this.#outputs;
    this.#outputs = [];
    return outputs;
  }

  #put(outputs: ConversationOutput[]): ConversationOutput[] {
    for (const output of outputs) this.#outputs.push({ at: this.#at, output: unjudged(output) });
    return outputs;
  }
}

function unjudged(output: ConversationOutput): ConversationOutput {
  if (output.type !== "event" || !("evaluated_permission" in output.event)) return output;
  const { evaluated_permission: _, ...event } = output.event;
  return { ...output, event };
}

const block = z.looseObject({ type: z.string() });
export type Block = z.infer<typeof block>;
const contentOf = z.object({ message: z.object({ content: z.union([z.string(), z.array(block)]) }) });

/** Content blocks of a message; undefined if it is not a message. */
export function blocksOf(line: unknown): Block[] | undefined {
  const content = contentOf.safeParse(line).data?.message.content;
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

/** Text and images as a client would send them; other blocks become a text placeholder. */
export const toUserContent = (blocks: readonly Block[]): UserContent[] =>
  blocks.map((each) => {
    const plain = each.type === "text" ? { type: "text", text: each["text"] } : each;
    return userContent.safeParse(plain).data ?? { type: "text", text: `[${each.type}]` };
  });

export const textOf = (blocks: readonly Block[]): string =>
  blocks.flatMap((each) => (each.type === "text" && typeof each["text"] === "string" ? [each["text"]] : [])).join("\n");
