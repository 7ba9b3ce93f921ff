import type { ThreadId } from "@tandem/protocol";
import type { PastOutput } from "./past-translator.ts";
import { PrintReader } from "./print-reader.ts";

/** Output formats of `claude --print`. */
export type PrintForm = "text" | "json" | "stream-json";

/** Unparsable text that starts like this is truncated JSON, not an answer. */
const LOOKS_LIKE_JSON = /^\s*(\{\s*"|\[\s*\{)/;

/**
 * Lines of `claude --print` as they arrive, in any of its formats. Unless given, the format is detected from the first
 * line that is a message; earlier lines are noise. Without such a line, the whole input is one JSON value or the plain
 * answer.
 */
export class PrintInput {
  readonly #reader: PrintReader;
  #form: PrintForm | undefined;
  #held: string[] = [];
  #unreadable = 0;

  constructor(conversation: string, primaryThread: ThreadId, form?: PrintForm) {
    this.#reader = new PrintReader(conversation, primaryThread);
    this.#form = form;
  }

  /** Claude Code's own session id, once known. */
  get session(): string | undefined {
    return this.#reader.session;
  }

  get unreadable(): number {
    return this.#unreadable;
  }

  line(text: string): PastOutput[] {
    if (this.#form === "stream-json") return text.trim() === "" ? [] : this.#message(text);
    this.#held.push(text);
    if (this.#form !== undefined || !isMessage(text)) return [];
    this.#form = "stream-json";
    return this.#release();
  }

  /** `isWhole` is false if the input ended before a result. */
  end(): { outputs: PastOutput[]; isWhole: boolean } {
    const outputs = this.#held.length > 0 ? this.#whole() : [];
    const end = this.#reader.end();
    return { outputs: [...outputs, ...end.outputs], isWhole: end.isWhole };
  }

  #whole(): PastOutput[] {
    const text = this.#held.join("\n").trim();
    if (text === "") return [];
    if (this.#form === "text") return this.#reader.accept(text);
    const json = parse(text);
    if (json) return this.#reader.accept(json.value);
    const isText = this.#form === undefined && !LOOKS_LIKE_JSON.test(text);
    if (isText) return this.#reader.accept(text);
    return this.#release();
  }

  #release(): PastOutput[] {
    const held = this.#held.filter((text) => text.trim() !== "");
    this.#held = [];
    return held.flatMap((text) => this.#message(text));
  }

  #message(text: string): PastOutput[] {
    const json = parse(text);
    if (json) return this.#reader.accept(json.value);
    this.#unreadable += 1;
    return this.#reader.unreadable(text);
  }
}

function parse(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/** Whether a line is a complete message; lines of a pretty-printed JSON value are not. */
function isMessage(text: string): boolean {
  const value = parse(text)?.value;
  return typeof value === "object" && value !== null && typeof Reflect.get(value, "type") === "string";
}
