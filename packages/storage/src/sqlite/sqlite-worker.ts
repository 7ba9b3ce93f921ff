import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { reasonOf, unavailable } from "../refusal.ts";
import { threadVariables } from "../thread-variables.ts";
import { toTandemError } from "../to-tandem-error.ts";
import type { Reply, Request, Result, ThreadData } from "./thread-messages.ts";

interface Pending {
  resolve: (results: Result[]) => void;
  reject: (error: unknown) => void;
}

interface Handlers {
  changed: () => void;
  ended: () => void;
}

type Question<R = Request> = R extends { id: number } ? Omit<R, "id"> : never;

/** Main-thread client of a SQLite thread. If the thread dies, pending calls fail. */
export class SqliteWorker {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #onEnd: () => void;
  #count = 0;

  private constructor(data: ThreadData, handlers: Handlers) {
    this.#worker = new Worker(new URL("./sqlite-thread.ts", import.meta.url), {
      workerData: data,
      env: threadVariables(),
    });
    this.#onEnd = handlers.ended;
    this.#worker.on("message", (reply: Reply) => {
      if (reply.type === "changed") handlers.changed();
      if (reply.type === "done") this.#settle(reply.id)?.resolve(reply.results);
    });
    this.#worker.on("error", () => this.#end());
    this.#worker.on("exit", () => this.#end());
  }

  /** Rejects if the database cannot be opened. */
  static async open(data: ThreadData, handlers: Handlers): Promise<SqliteWorker> {
    const made = new SqliteWorker(data, handlers);
    const [reply] = (await once(made.#worker, "message").catch((error: unknown) => {
      throw toTandemError(reasonOf(error), error);
    })) as [Extract<Reply, { type: "opened" }>];
    if (!reply.result.ok) {
      await made.#worker.terminate();
      throw toTandemError(reply.result.reason);
    }
    // The thread keeps the process alive only while a request is pending.
    made.#worker.unref();
    return made;
  }

  ask(question: Question): Promise<Result[]> {
    return new Promise((resolve, reject) => {
      this.#count += 1;
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(this.#count, { resolve, reject });
      this.#worker.postMessage({ ...question, id: this.#count }, []);
    });
  }

  watch(on: boolean): void {
    this.#worker.postMessage({ type: "watch", on } satisfies Request, []);
  }

  #settle(id: number): Pending | undefined {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker.unref();
    return pending;
  }

  #end(): void {
    const error = toTandemError(unavailable("its thread has ended").reason);
    for (const { reject } of this.#pending.values()) reject(error);
    this.#pending.clear();
    this.#onEnd();
  }
}
