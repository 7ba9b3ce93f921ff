import type { ThreadId } from "@tandem/protocol";
import { z } from "zod";
import { isInternalText } from "../session/translate/ignored.ts";
import { type Block, blocksOf, type PastOutput, PastTranslator, toUserContent } from "./past-translator.ts";

const DENIED = "Claude Code did not allow this call.";
const BROKEN_OFF = "The output of Claude Code broke off before its result.";

const object = z.record(z.string(), z.unknown());
const said = z.looseObject({ message: z.looseObject({ content: z.array(z.looseObject({ type: z.string() })) }) });
const time = z.iso.datetime({ offset: true });
/** Result of `--output-format json`, and variants seen in the wild: each field is optional. */
const answer = z.looseObject({
  type: z.literal("result").optional(),
  result: z.string().nullish(),
  subtype: z.string().optional(),
  is_error: z.boolean().optional(),
  structured_output: z.unknown().optional(),
  error: z.unknown().optional(),
  errors: z.array(z.string()).optional(),
  session_id: z.string().optional(),
  permission_denials: z.array(z.unknown()).optional(),
});
const denial = z.looseObject({
  tool_name: z.string(),
  tool_use_id: z.string().optional(),
  tool_input: z.unknown().optional(),
});
/** Calls and results as separate events, as early versions wrote them. Results are flat or nested. */
const bareUse = z.looseObject({
  type: z.literal("tool_use"),
  tool_use: z.looseObject({ id: z.string().optional(), name: z.string(), input: z.unknown() }),
});
const bareResult = z.looseObject({
  type: z.literal("tool_result"),
  tool_use_id: z.string().optional(),
  content: z.unknown().optional(),
  is_error: z.boolean().optional(),
});

/**
 * Reads the values that `claude --print` writes: a string (`text`), one object (`json`), a list of messages (`json`
 * with `--verbose`), or one message at a time (`stream-json`). Pure: performs no I/O, and ids derive from the values.
 */
export class PrintReader {
  readonly #translator: PastTranslator;
  #count = 0;
  #session: string | undefined;
  #isOpen = false;
  #hasEnded = false;
  /** Whether the turn has produced anything besides its result. */
  #hasSpoken = false;
  /** Calls without an id that have no result yet. */
  #bareCalls: string[] = [];
  readonly #seenCalls = new Set<unknown>();
  /** Denied calls that a message has reported. */
  readonly #denied = new Set<unknown>();

  constructor(conversation: string, primaryThread: ThreadId) {
    this.#translator = new PastTranslator(conversation, primaryThread);
  }

  /** Claude Code's own session id, once known. */
  get session(): string | undefined {
    return this.#session;
  }

  accept(value: unknown): PastOutput[] {
    for (const each of Array.isArray(value) ? value : [value]) this.#accept(each);
    return this.#translator.take();
  }

  /** A line that is not JSON. */
  unreadable(line: string): PastOutput[] {
    this.#begin(undefined);
    this.#translator.unknown("line", line);
    return this.#translator.take();
  }

  /** End of input. Without a result, the turn or the whole input was truncated. */
  end(): { outputs: PastOutput[]; isWhole: boolean } {
    const isWhole = !this.#isOpen && this.#hasEnded;
    this.#begin(undefined);
    if (!isWhole) this.#translator.breakOff(BROKEN_OFF);
    this.#isOpen = false;
    return { outputs: this.#translator.take(), isWhole };
  }

  #begin(at: unknown): void {
    this.#count += 1;
    this.#translator.begin(String(this.#count), time.safeParse(at).data);
  }

  #accept(value: unknown): void {
    const message = object.safeParse(value).data;
    this.#begin(message?.["timestamp"]);
    if (typeof value === "string") return this.#result({ result: value });
    if (!message) return this.#translator.unknown("value", value);
    if (typeof message["session_id"] === "string") this.#session ??= message["session_id"];
    switch (message["type"]) {
      case "assistant":
        return this.#assistant(message);
      case "user":
        return this.#user(message);
      case "tool_use":
        return this.#bareUse(message);
      case "tool_result":
        return this.#bareResult(message);
      case "result":
        return this.#result(message);
      case "error":
        return this.#result({ ...message, type: "result" });
      case undefined:
        return this.#untyped(message);
      default:
        if (message["type"] === "system" && message["subtype"] === "init") this.#isOpen = true;
        if (message["subtype"] === "permission_denied") this.#denied.add(message["tool_use_id"]);
        this.#translator.say(message);
    }
  }

  #untyped(message: Record<string, unknown>): void {
    const isAnswer = ["result", "structured_output", "error"].some((key) => key in message);
    if (isAnswer) return this.#result(message);
    this.#translator.unknown("value", message);
  }

  #assistant(message: Record<string, unknown>): void {
    const known = said.safeParse(message).data;
    if (!known) return this.#translator.unknown("assistant", message);
    this.#isOpen = this.#hasSpoken = true;
    for (const block of known.message.content) if (block.type === "tool_use") this.#seenCalls.add(block["id"]);
    const id = `msg_line_${this.#count}`;
    this.#translator.say({
      parent_tool_use_id: null,
      ...message,
      message: { id, model: "unknown", usage: {}, stop_reason: null, ...known.message },
    });
  }

  #user(message: Record<string, unknown>): void {
    const blocks = blocksOf(message);
    if (!blocks) return this.#translator.unknown("user", message);
    const isOfSubagent = typeof message["parent_tool_use_id"] === "string";
    const isWord = (block: Block): boolean =>
      block.type !== "tool_result" && !isOfSubagent && !isInternalText(PLAIN, block);
    const words = blocks.filter(isWord);
    if (words.length > 0 && message["isSynthetic"] !== true) {
      this.#isOpen = true;
      const uuid = message["uuid"];
      this.#translator.prompt(toUserContent(words), typeof uuid === "string" ? uuid : undefined);
    }
    const content = blocks.filter((block) => !words.includes(block));
    if (content.length > 0) {
      this.#translator.say({ parent_tool_use_id: null, ...message, message: { role: "user", content } });
    }
  }

  #bareUse(message: Record<string, unknown>): void {
    const use = bareUse.safeParse(message).data?.tool_use;
    if (!use) return this.#translator.unknown("tool_use", message);
    const id = use.id ?? `toolu_line_${this.#count}`;
    this.#bareCalls.push(id);
    this.#assistant({
      type: "assistant",
      message: { content: [{ type: "tool_use", id, name: use.name, input: use.input }] },
    });
  }

  #bareResult(message: Record<string, unknown>): void {
    const nested = object.safeParse(message["tool_result"]).data;
    const result = bareResult.safeParse({ ...message, ...nested, type: "tool_result" }).data;
    const id = result?.tool_use_id ?? this.#bareCalls[0];
    if (!result || id === undefined) return this.#translator.unknown("tool_result", message);
    this.#bareCalls = this.#bareCalls.filter((other) => other !== id);
    const block = { type: "tool_result", tool_use_id: id, content: result.content, is_error: result.is_error };
    this.#translator.say({ type: "user", parent_tool_use_id: null, message: { role: "user", content: [block] } });
  }

  #result(message: Record<string, unknown>): void {
    const known = answer.safeParse(message).data;
    if (!known) return this.#translator.unknown("result", message);
    const failed = known.error !== undefined && known.error !== null;
    const text = known.result ?? (failed ? wordsOf(known.error) : "");
    if (!this.#hasSpoken && known.result && !known.is_error && !failed) {
      this.#translator.event({ type: "agent.message", content: [{ type: "text", text: known.result }] });
    }
    for (const each of known.permission_denials ?? []) this.#denial(each);
    if (known.structured_output !== undefined) {
      this.#translator.event({ type: "tandem.output", value: known.structured_output });
    }
    const subtype = known.subtype ?? "success";
    this.#translator.say({
      stop_reason: null,
      modelUsage: {},
      permission_denials: [],
      ...known,
      type: "result",
      subtype,
      result: text,
      is_error: known.is_error ?? failed,
      errors: known.errors ?? [text || subtype],
    });
    this.#isOpen = this.#hasSpoken = false;
    this.#hasEnded = true;
    this.#bareCalls = [];
  }

  /** A call that was refused. The input is kept in the reason if no message has shown the call. */
  #denial(value: unknown): void {
    const known = denial.safeParse(value).data;
    if (!known) return this.#translator.unknown("permission_denials", value);
    const { tool_name: name, tool_use_id: id = `toolu_line_${this.#count}`, tool_input: input } = known;
    if (this.#denied.has(id)) return;
    this.#denied.add(id);
    const isShown = this.#seenCalls.has(id) || input === undefined;
    const reason = isShown ? DENIED : `${DENIED} Its input: ${JSON.stringify(input)}`;
    this.#translator.event({ type: "tandem.permission_denied", name, tool_use_id: id, reason });
  }
}

/** The minimal message needed to recognise Claude Code's own texts. */
const PLAIN: Parameters<typeof isInternalText>[0] = {
  type: "user",
  message: { role: "user", content: "" },
  parent_tool_use_id: null,
};

function wordsOf(error: unknown): string {
  if (typeof error === "string") return error;
  const message = object.safeParse(error).data?.["message"];
  return typeof message === "string" ? message : JSON.stringify(error);
}
