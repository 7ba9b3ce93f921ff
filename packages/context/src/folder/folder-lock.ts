import { RequestError } from "@tandem/protocol";
import { AsyncLocalStorage } from "node:async_hooks";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";

/** Longer than the largest commit on a slow disk. */
const PATIENCE_MS = 60_000;
const PAUSE_MS = 15;

/**
 * A mutex across processes and callers. Uses the operating system's lock on an (empty) database file, which is released
 * when the process ends in any way, so nothing needs cleanup.
 */
export class FolderLock {
  readonly #file: string;
  readonly #holder = new AsyncLocalStorage<true>();
  #queue: Promise<unknown> = Promise.resolve();

  constructor(file: string) {
    this.#file = file;
  }

  /** Reentrant. */
  hold<T>(work: () => Promise<T>): Promise<T> {
    if (this.#holder.getStore()) return work();
    const turn = this.#queue.then(() => this.#locked(() => this.#holder.run(true, work)));
    // Without its result, which may be large and would be kept until the next turn.
    this.#queue = turn.catch(() => {}).then(() => undefined);
    return turn;
  }

  async #locked<T>(work: () => Promise<T>): Promise<T> {
    using database = new DatabaseSync(this.#file);
    const until = performance.now() + PATIENCE_MS;
    while (!tryLock(database)) {
      if (performance.now() > until) {
        throw new RequestError("unavailable", "Another process has been changing the context for a minute.", {
          fix: "Wait until it is done, or look for a tandem process that hangs.",
        });
      }
      await sleep(PAUSE_MS + Math.random() * PAUSE_MS);
    }
    return await work();
  }
}

function tryLock(database: DatabaseSync): boolean {
  try {
    database.exec("PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE");
    return true;
  } catch (error) {
    if (error instanceof Error && /locked|busy/i.test(error.message)) return false;
    throw error;
  }
}
