import { setTimeout as sleep } from "node:timers/promises";
import type { LeftProcess } from "../operation-history.ts";
import { allProcesses, descendantsOf, isMarked, type FoundProcess } from "./process-table.ts";

const LOOK_MS = 250;
const POLL_MS = 50;

/**
 * Remembers every process that descends from the tested ones, so that it finds those that outlive their parents, whatever
 * their environment is.
 */
export class ProcessWatch implements Disposable {
  readonly #mark: string;
  readonly #roots: () => readonly number[];
  readonly #known = new Map<string, FoundProcess>();
  readonly #timer: NodeJS.Timeout;

  /** `mark` is a text in the environment of the tested processes. */
  constructor(mark: string, roots: () => readonly number[]) {
    this.#mark = mark;
    this.#roots = roots;
    this.#timer = setInterval(() => this.look(), LOOK_MS);
    this.#timer.unref();
  }

  look(): void {
    const table = allProcesses();
    for (const root of this.#roots()) {
      for (const process of descendantsOf(root, table)) this.#known.set(keyOf(process), process);
    }
  }

  /** Processes that are still there. They get a moment to exit. */
  async leftAfter(ms: number): Promise<LeftProcess[]> {
    const deadline = Date.now() + ms;
    for (;;) {
      const left = this.#alive();
      if (left.length === 0 || Date.now() > deadline) return left.map(({ pid, command }) => ({ pid, command }));
      await sleep(POLL_MS);
    }
  }

  /** Ends everything that the tested processes have started. */
  endAll(): void {
    for (const { pid } of this.#alive()) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has exited.
      }
    }
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #alive(): FoundProcess[] {
    return allProcesses().filter(
      (one) => one.pid !== process.pid && (this.#known.has(keyOf(one)) || isMarked(one, this.#mark)),
    );
  }
}

const keyOf = ({ pid, startedAt }: FoundProcess): string => `${pid} ${startedAt}`;
