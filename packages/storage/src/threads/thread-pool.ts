import { type ResourceLimits, Worker } from "node:worker_threads";
import { getCompileCacheDir } from "node:module";
import { dirname } from "node:path";

const IDLE_MS = 10_000;

/** Keeps threads for a moment after their use, because starting one takes as long as dozens of requests to it. */
export class ThreadPool {
  readonly #script: URL;
  readonly #limits: ResourceLimits;
  readonly #idle = new Map<Worker, NodeJS.Timeout>();

  constructor(script: URL, limits: ResourceLimits = {}) {
    this.#script = script;
    this.#limits = limits;
  }

  /** The thread keeps the process alive until `unref` is called. */
  take(): Worker {
    const [found] = this.#idle.keys();
    if (found === undefined) return this.#start();
    clearTimeout(this.#idle.get(found));
    this.#idle.delete(found);
    found.ref();
    return found;
  }

  /** For a thread without state and pending requests; its taker has removed its listeners. */
  giveBack(worker: Worker): void {
    if (worker.threadId === -1) return;
    worker.unref();
    const end = (): void => {
      // Before it ends, which takes a moment: a taker must not get it meanwhile.
      this.#idle.delete(worker);
      void worker.terminate();
    };
    this.#idle.set(worker, setTimeout(end, IDLE_MS).unref());
  }

  #start(): Worker {
    const worker = new Worker(this.#script, { env: threadVariables(), resourceLimits: this.#limits });
    // Without a listener, an error in an idle thread would end the process.
    worker.on("error", () => {});
    worker.on("exit", () => {
      clearTimeout(this.#idle.get(worker));
      this.#idle.delete(worker);
    });
    return worker;
  }
}

/** Threads inherit no environment except the compile cache; without it each thread compiles all code again. */
function threadVariables(): Record<string, string> {
  const folder = getCompileCacheDir();
  // Node reports a version-specific subfolder of the configured one.
  return folder === undefined ? {} : { NODE_COMPILE_CACHE: dirname(folder) };
}
