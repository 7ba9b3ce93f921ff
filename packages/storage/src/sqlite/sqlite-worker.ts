import type { Worker } from "node:worker_threads";
import { unavailable } from "../refusal.ts";
import { ThreadPool } from "../threads/thread-pool.ts";
import { toTandemError } from "../to-tandem-error.ts";
import type { Question, Reply, Request, Result, ThreadData } from "./thread-messages.ts";

interface Pending {
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
}

interface Handlers {
  changed: () => void;
  ended: () => void;
}

/** A thread allocates much and keeps little: without a bound, its young generation alone grows to 48 MB. */
const threads = new ThreadPool(new URL("./sqlite-thread.ts", import.meta.url), { maxYoungGenerationSizeMb: 8 });

/** Main-thread client of a SQLite thread. If the thread dies, pending calls fail. */
export class SqliteWorker {
  readonly #worker: Worker = threads.take();
  readonly #pending = new Map<number, Pending>();
  readonly #handlers: Handlers;
  readonly #onEnd = (cause?: unknown): void => this.#end(cause);
  readonly #onReply = (reply: Reply): void => {
    if (reply.type === "changed") this.#handlers.changed();
    else this.#settle(reply.id)?.resolve(reply.results);
  };
  #count = 0;
  /** Another store may use the thread now. */
  #isClosed = false;

  private constructor(handlers: Handlers) {
    this.#handlers = handlers;
    this.#worker.on("message", this.#onReply).on("error", this.#onEnd).on("exit", this.#onEnd);
  }

  /** Rejects if the database cannot be opened. */
  static async open(data: ThreadData, handlers: Handlers): Promise<SqliteWorker> {
    const made = new SqliteWorker(handlers);
    const [result] = await made.ask({ type: "open", data });
    if (result?.ok) return made;
    await made.#worker.terminate();
    throw toTandemError(result!.reason);
  }

  /** The thread keeps the process alive only while a request is pending. */
  ask(question: Question): Promise<Result[]> {
    if (this.#isClosed) return Promise.reject(toTandemError(unavailable("it has been closed").reason));
    return new Promise((resolve, reject) => {
      this.#count += 1;
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(this.#count, { resolve, reject });
      this.#worker.postMessage({ ...question, id: this.#count }, []);
    });
  }

  watch(on: boolean): void {
    if (!this.#isClosed) this.#worker.postMessage({ type: "watch", on } satisfies Request, []);
  }

  /** Closes the connection. */
  async close(): Promise<void> {
    const closing = this.ask({ type: "close" });
    this.#isClosed = true;
    await closing;
    this.#worker.off("message", this.#onReply).off("error", this.#onEnd).off("exit", this.#onEnd);
    threads.giveBack(this.#worker);
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker.unref();
    return pending;
  }

  #end(cause?: unknown): void {
    const error = toTandemError(unavailable("its thread has ended").reason, cause);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#handlers.ended();
  }
}
