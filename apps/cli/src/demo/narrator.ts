import type { CallReport } from "@tandem/protocol";
import { styleFor, type Style, wrap, widthOf } from "../terminal.ts";

const SPEAKER_WIDTH = 8;
const INDENT = "   ";

const PAINTS: Record<string, keyof Style> = { you: "dim", model: "accent" };

/** Prints the demo's narration. */
export class Narrator {
  readonly #stream: NodeJS.WriteStream;
  readonly #style: Style;
  #act = 0;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    this.#style = styleFor(stream);
  }

  line(text = ""): void {
    this.#stream.write(`${text}\n`);
  }

  title(text: string): void {
    this.#act += 1;
    this.line();
    this.line(this.#style.bold(`${this.#act}  ${text}`));
  }

  says(speaker: string, text: string): void {
    const paint = PAINTS[speaker] ?? "warn";
    const room = Math.min(widthOf(this.#stream), 100) - INDENT.length - SPEAKER_WIDTH;
    const [first = "", ...rest] = wrap(text, room);
    this.line(`${INDENT}${this.#style[paint](speaker.padEnd(SPEAKER_WIDTH))}${first}`);
    for (const line of rest) this.line(`${INDENT}${" ".repeat(SPEAKER_WIDTH)}${line}`);
  }

  note(text: string): void {
    this.line(`${INDENT}${this.#style.dim(text)}`);
  }

  /** A command line as a user would type it. */
  command(text: string): void {
    this.line(`${INDENT}${this.#style.dim("$")} ${this.#style.accent(text)}`);
  }

  took({ latencyMs, usage, attempts }: CallReport): void {
    const tries = attempts > 1 ? `, ${attempts} tries` : "";
    this.note(`${latencyMs.toFixed(0)} ms, ${usage.inputTokens} tokens in, ${usage.outputTokens} out${tries}`);
  }
}
