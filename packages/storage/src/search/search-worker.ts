import type { Transferable, Worker } from "node:worker_threads";
import { TandemError } from "@tandem/protocol";
import { ThreadPool } from "../threads/thread-pool.ts";
import type { QuestionName, Questions, Reply, Request } from "./search-messages.ts";

interface Pending {
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
}

const threads = new ThreadPool(new URL("./search-thread.ts", import.meta.url));

/** Main-thread client of the search thread, which starts on first use. */
export class SearchWorker implements AsyncDisposable {
  readonly #pending = new Map<number, Pending>();
  readonly #onLost: () => void;
  #worker: Worker | undefined;
  #count = 0;
  #closed = false;
  readonly #onReply = (reply: Reply): void => {
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#worker?.unref();
    if (reply.ok) pending?.resolve(reply.answer);
    else pending?.reject(failed(reply.message));
  };
  /** The error of a thread, or its exit code. */
  readonly #onEnd = (cause?: unknown): void => {
    if (this.#worker === undefined) return;
    this.#worker.off("message", this.#onReply).off("error", this.#onEnd).off("exit", this.#onEnd);
    this.#worker = undefined;
    const why = cause instanceof Error ? cause.message : "its thread has ended";
    for (const { reject } of this.#pending.values()) reject(failed(why));
    this.#pending.clear();
    this.#onLost();
  };

  /** `onLost` is called when the thread exits and its matrices are lost. */
  constructor(onLost: () => void) {
    this.#onLost = onLost;
  }

  /** Buffers in `transfer` are moved to the thread. */
  ask<N extends QuestionName>(
    name: N,
    ask: Questions[N]["ask"],
    transfer: readonly Transferable[] = [],
  ): Promise<Questions[N]["answer"]> {
    if (this.#closed) return Promise.reject(failed("it has been closed"));
    const worker = (this.#worker ??= this.#start());
    return new Promise((resolve, reject) => {
      this.#count += 1;
      // The thread keeps the process alive only while a request is pending.
      if (this.#pending.size === 0) worker.ref();
      this.#pending.set(this.#count, { resolve: resolve as (answer: unknown) => void, reject });
      worker.postMessage({ id: this.#count, name, ask } satisfies Request<N>, transfer);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#closed) return;
    const worker = this.#worker;
    const isIdle = this.#pending.size === 0;
    const cleared = worker && isIdle ? this.ask("dropAll", null) : undefined;
    this.#closed = true;
    if (!isIdle) await worker?.terminate();
    await cleared?.catch(() => undefined);
    // The thread may have ended meanwhile.
    if (!worker || this.#worker !== worker) return;
    this.#worker = undefined;
    worker.off("message", this.#onReply).off("error", this.#onEnd).off("exit", this.#onEnd);
    threads.giveBack(worker);
  }

  #start(): Worker {
    const worker = threads.take();
    worker.unref();
    return worker.on("message", this.#onReply).on("error", this.#onEnd).on("exit", this.#onEnd);
  }
}

const failed = (why: string): TandemError => new TandemError("search_failed", `The search failed: ${why}.`);
