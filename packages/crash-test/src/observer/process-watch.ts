import { setTimeout as sleep } from "node:timers/promises";
import type { LeftProcess } from "../operation-history.ts";
import { allProcesses, descendantsOf, isMarked, type FoundProcess } from "./process-table.ts";

const LOOK_MS = 250;
const POLL_MS = 50;

interface OrphanLimit {
  /** The command lines of the agents' processes. */
  pattern: RegExp;
  /** How long one may outlive its server. None: until all has ended. */
  ms: number | undefined;
}

/**
 * Remembers every process that descends from the tested ones, so that it finds those that outlive their parents, whatever
 * their environment is.
 */
export class ProcessWatch implements Disposable {
  readonly #mark: string;
  readonly #roots: () => readonly number[];
  readonly #known = new Map<string, FoundProcess>();
  readonly #limit: OrphanLimit;
  /** When an agent's process was first seen without its server. */
  readonly #orphanedAt = new Map<string, number>();
  readonly #orphans = new Map<string, FoundProcess>();
  readonly #timer: NodeJS.Timeout;

  /** `mark` is a text in the environment of the tested processes. */
  constructor(mark: string, roots: () => readonly number[], limit: OrphanLimit) {
    this.#mark = mark;
    this.#roots = roots;
    this.#limit = limit;
    this.#timer = setInterval(() => this.look(), LOOK_MS);
    this.#timer.unref();
  }

  look(): void {
    const table = allProcesses();
    const owned = new Set<string>();
    for (const root of this.#roots()) {
      for (const process of descendantsOf(root, table)) {
        this.#known.set(keyOf(process), process);
        owned.add(keyOf(process));
      }
    }
    for (const process of table) this.#noteOrphan(process, owned.has(keyOf(process)));
  }

  /** Agents' processes that outlived their server for too long. */
  get orphans(): LeftProcess[] {
    return [...this.#orphans.values()].map(({ pid, command }) => ({ pid, command }));
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

  #noteOrphan(process: FoundProcess, isOwned: boolean): void {
    const key = keyOf(process);
    const { pattern, ms = Infinity } = this.#limit;
    if (isOwned || !this.#known.has(key) || !pattern.test(process.command)) return;
    const since = this.#orphanedAt.get(key) ?? Date.now();
    this.#orphanedAt.set(key, since);
    if (Date.now() - since > ms) this.#orphans.set(key, process);
  }

  #alive(): FoundProcess[] {
    return allProcesses().filter(
      (one) => one.pid !== process.pid && (this.#known.has(keyOf(one)) || isMarked(one, this.#mark)),
    );
  }
}

const keyOf = ({ pid, startedAt }: FoundProcess): string => `${pid} ${startedAt}`;
