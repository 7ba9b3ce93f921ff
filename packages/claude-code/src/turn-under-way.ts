import { LlmError } from "@tandem/protocol";
import { aborted, timedOut } from "./process-errors.ts";
import type { Turn } from "./turn.ts";
import { TurnReader, type TurnOutcome } from "./turn-reader.ts";

export interface Deadlines {
  spawn: number;
  init: number;
  firstByte: number;
  idle: number;
  exit: number;
}

/**
 * A turn from its message to its outcome: under a deadline at every moment, settled exactly once, whichever comes first of
 * result, deadline, abort and death. Without a turn of ours it is a command to Claude Code itself.
 */
export class TurnUnderWay {
  readonly turn: Turn | undefined;
  readonly reader = new TurnReader();
  readonly outcome: Promise<TurnOutcome>;
  /** Whether Claude Code has said what it came up with, and it was what we asked for. */
  checked = false;
  /** Whether it has said that it forgot. */
  forgotten = false;
  readonly #deadlines: Deadlines;
  readonly #endProcess: () => void;
  readonly #resolve: (outcome: TurnOutcome) => void;
  readonly #onAbort = (): void => this.fail(aborted());
  #timer: NodeJS.Timeout | undefined;
  #settled = false;

  /** `endProcess` is called where the process can no longer be relied on. */
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

  /** What comes after the first time changes nothing any more. */
  settle(end: TurnOutcome | LlmError): void {
    this.#settled = true;
    clearTimeout(this.#timer);
    this.turn?.signal.removeEventListener("abort", this.#onAbort);
    this.#resolve(end instanceof LlmError ? failed(end, this.reader.usedSoFar) : end);
  }

  /** Ends a turn whose process is in an unknown state, and the process with it. */
  fail(error: LlmError): void {
    this.settle(error);
    this.#endProcess();
  }

  /** A model request has been sent. */
  asked(): void {
    this.#watch(this.#deadlines.firstByte, "begin its answer (firstByte)");
  }

  alive(): void {
    this.#watch(this.#deadlines.idle, "go on with its answer (idle)");
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
