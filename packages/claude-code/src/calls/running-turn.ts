import { LlmError } from "@tandem/protocol";
import { aborted, timedOut } from "../process-errors.ts";
import type { Turn } from "./turn-setup.ts";
import { TurnReader, type TurnOutcome } from "./turn-reader.ts";

export interface Deadlines {
  spawn: number;
  init: number;
  firstByte: number;
  idle: number;
  exit: number;
}

/**
 * A running turn, from its message to its outcome. It always has a deadline, and settles exactly once: by result,
 * deadline, abort or exit. Without a `turn` it is a slash command.
 */
export class RunningTurn {
  readonly turn: Turn | undefined;
  readonly reader = new TurnReader();
  readonly outcome: Promise<TurnOutcome>;
  /** Whether the init message was received and matched the requested setup. */
  checked = false;
  /** Whether the reset was confirmed. */
  forgotten = false;
  readonly #deadlines: Deadlines;
  readonly #endProcess: () => void;
  readonly #resolve: (outcome: TurnOutcome) => void;
  readonly #onAbort = (): void => this.fail(aborted());
  #timer: NodeJS.Timeout | undefined;
  #settled = false;

  /** `endProcess` is called if the process is no longer reliable. */
  constructor(turn: Turn | undefined, deadlines: Deadlines, endProcess: () => void) {
    const { promise, resolve } = Promise.withResolvers<TurnOutcome>();
    this.turn = turn;
    this.outcome = promise;
    this.#resolve = resolve;
    this.#deadlines = deadlines;
    this.#endProcess = endProcess;
    turn?.signal.addEventListener("abort", this.#onAbort, { once: true });
    if (turn) this.asked();
    else this.#watch(deadlines.init, "forget a conversation (init)");
  }

  /** Only the first call has an effect. */
  settle(end: TurnOutcome | LlmError): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.turn?.signal.removeEventListener("abort", this.#onAbort);
    this.#resolve(end instanceof LlmError ? failed(end, this.reader.usedSoFar) : end);
  }

  /** Ends the turn and kills its process, whose state is unknown. */
  fail(error: LlmError): void {
    this.settle(error);
    this.#endProcess();
  }

  /** A model request was sent. */
  asked(): void {
    this.#watch(this.#deadlines.firstByte, "begin its answer (firstByte)");
  }

  alive(): void {
    this.#watch(this.#deadlines.idle, "continue its answer (idle)");
  }

  #watch(ms: number, phase: string): void {
    clearTimeout(this.#timer);
    if (this.#settled) return;
    this.#timer = setTimeout(() => this.fail(timedOut(phase, ms)), ms);
  }
}

export const failed = (error: LlmError, used: TurnOutcome["used"]): TurnOutcome => ({
  text: "",
  answers: 0,
  used,
  error,
});
