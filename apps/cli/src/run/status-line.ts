import { countdown } from "../progress.ts";
import { styleFor, type Style } from "../terminal.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;
const CLEAR_LINE = "\r\u001b[2K";
/** A wait that is not worth counting. */
const NOTICEABLE_MS = 3_000;

/** One moving line at the bottom of a terminal, which makes way for lines that stay. Nothing elsewhere. */
export class StatusLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #style: Style;
  /** Whether it says how long it has been showing the same. */
  readonly #counts: boolean;
  #timer: NodeJS.Timeout | undefined;
  #text = "";
  #since = 0;
  #frame = 0;

  constructor(stream: NodeJS.WriteStream, { counts = true }: { counts?: boolean } = {}) {
    this.#stream = stream;
    this.#counts = counts;
    this.#style = styleFor(stream);
  }

  show(text: string): void {
    if (!this.#stream.isTTY) return;
    if (text !== this.#text) this.#since = Date.now();
    this.#text = text;
    this.#timer ??= setInterval(() => this.#draw(), FRAME_MS).unref();
    this.#draw();
  }

  hide(): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#stream.write(CLEAR_LINE);
  }

  #draw(): void {
    const elapsed = Date.now() - this.#since;
    const time = this.#counts && elapsed > NOTICEABLE_MS ? `  ${countdown(elapsed)}` : "";
    const room = Math.max(10, this.#stream.columns - 4 - time.length);
    const text = this.#text.length > room ? `${this.#text.slice(0, room - 1)}…` : this.#text;
    const frame = FRAMES[this.#frame++ % FRAMES.length]!;
    this.#stream.write(`${CLEAR_LINE}${this.#style.accent(frame)} ${this.#style.dim(text + time)}`);
  }
}
