import { countdown } from "../progress.ts";
import { clip, styleFor, type Style } from "../terminal.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 80;
const CLEAR_LINE = "\r\u001b[2K";
/** Shorter waits show no seconds. */
const NOTICEABLE_MS = 3_000;

/** An animated last line of a terminal that moves below permanent lines. Prints nothing elsewhere. */
export class StatusLine {
  readonly #stream: NodeJS.WriteStream;
  readonly #style: Style;
  /** True if it shows the elapsed time. */
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
    const text = clip(this.#text, room);
    const frame = FRAMES[this.#frame++ % FRAMES.length]!;
    this.#stream.write(`${CLEAR_LINE}${this.#style.accent(frame)} ${this.#style.dim(text + time)}`);
  }
}
