import type { Invocation } from "./invocation.ts";
import { styleFor } from "./terminal.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const FRAME_MS = 100;
/** Between two lines of a log. */
const LINE_MS = 3_000;
const CLEAR_LINE = "\r\u001b[2K";

/** A wait to show. The runtime's `Wait` has this shape. */
export interface ShownWait {
  reason: string;
  until?: Date;
  attempt: number;
}

/**
 * Shows progress on stderr: an animated line on a terminal, one line per wait and every few seconds elsewhere, as JSON
 * objects with `--json`. Disposing clears the line.
 */
export class Progress implements Disposable {
  readonly #invocation: Pick<Invocation, "stderr" | "json">;
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #style: ReturnType<typeof styleFor>;
  #label: string;
  #wait: ShownWait | undefined;
  #frame = 0;
  #lineAt = Date.now();

  constructor(invocation: Pick<Invocation, "stderr" | "json">, label: string) {
    this.#invocation = invocation;
    this.#label = label;
    this.#style = styleFor(invocation.stderr);
    if (!invocation.stderr.isTTY || invocation.json) return;
    this.#timer = setInterval(() => this.#draw(), FRAME_MS).unref();
  }

  label(label: string): void {
    this.#label = label;
    this.#wait = undefined;
  }

  /** A step within a long stage. Without a terminal it prints a line from time to time, so that a log shows movement. */
  step(label: string, progress: { stage: string; done: number; total: number | null }): void {
    this.label(label);
    const { json, stderr } = this.#invocation;
    if (this.#timer || Date.now() - this.#lineAt < LINE_MS) return;
    this.#lineAt = Date.now();
    stderr.write(`${json ? JSON.stringify({ progress }) : label}\n`);
  }

  /** A wait ends at its own end or with the next label or wait. */
  wait(wait: ShownWait): void {
    this.#wait = wait;
    const { json, stderr } = this.#invocation;
    if (json) stderr.write(`${JSON.stringify({ wait })}\n`);
    else if (!this.#timer && wait.until) stderr.write(`${describeWait(wait, Date.now())}\n`);
  }

  [Symbol.dispose](): void {
    if (!this.#timer) return;
    clearInterval(this.#timer);
    if (this.#frame > 0) this.#invocation.stderr.write(CLEAR_LINE);
  }

  #draw(): void {
    const { stderr } = this.#invocation;
    const over = this.#wait?.until && this.#wait.until.getTime() <= Date.now();
    const text = this.#wait && !over ? describeWait(this.#wait, Date.now()) : this.#label;
    const line = text.slice(0, Math.max(10, stderr.columns - 3));
    stderr.write(`${CLEAR_LINE}${this.#style.accent(FRAMES[this.#frame++ % FRAMES.length]!)} ${this.#style.dim(line)}`);
  }
}

const REASONS: Record<string, string> = {
  quota: "Quota exhausted; waiting for its reset",
  overloaded: "Service overloaded; waiting to retry",
  transient: "Request failed; waiting to retry",
  concurrency: "Waiting for other calls to finish",
};

/** `Quota exhausted; waiting for its reset: 2m 5s left (until 14:05:00), try 2`. */
export function describeWait({ reason, until, attempt }: ShownWait, now: number): string {
  const text = REASONS[reason] ?? `Waiting (${reason})`;
  const left = until ? `: ${countdown(until.getTime() - now)} left (until ${until.toLocaleTimeString()})` : "";
  return `${text}${left}${attempt > 1 ? `, try ${attempt}` : ""}`;
}

export function countdown(milliseconds: number): string {
  const seconds = Math.max(0, Math.ceil(milliseconds / 1000));
  const parts = [
    [Math.floor(seconds / 3600), "h"],
    [Math.floor(seconds / 60) % 60, "m"],
    [seconds % 60, "s"],
  ] as const;
  const first = parts.findIndex(([amount]) => amount > 0);
  if (first === -1) return "0s";
  return parts
    .slice(first, first + 2)
    .map(([amount, unit]) => `${amount}${unit}`)
    .join(" ");
}
