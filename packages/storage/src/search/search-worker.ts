import { type Transferable, Worker } from "node:worker_threads";
import { TandemError } from "@tandem/protocol";
import { threadVariables } from "../thread-variables.ts";
import type { QuestionName, Questions, Reply, Request } from "./search-messages.ts";

interface Pending {
  resolve: (answer: unknown) => void;
  reject: (error: unknown) => void;
}

/** Main-thread client of the search thread, which starts on first use. */
export class SearchWorker implements AsyncDisposable {
  readonly #pending = new Map<number, Pending>();
  readonly #onLost: () => void;
  #worker: Worker | undefined;
  #count = 0;
  #closed = false;

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
    this.#closed = true;
    await this.#worker?.terminate();
  }

  #start(): Worker {
    const worker = new Worker(new URL("./search-thread.ts", import.meta.url), { env: threadVariables() });
    worker.unref();
    worker.on("message", (reply: Reply) => {
      const pending = this.#pending.get(reply.id);
      this.#pending.delete(reply.id);
      if (this.#pending.size === 0) worker.unref();
      if (reply.ok) pending?.resolve(reply.answer);
      else pending?.reject(failed(reply.message));
    });
    const end = (error?: Error): void => {
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      for (const { reject } of this.#pending.values()) reject(failed(error?.message ?? "its thread has ended"));
      this.#pending.clear();
      this.#onLost();
    };
    worker.on("error", (error) => end(error instanceof Error ? error : undefined));
    worker.on("exit", () => end());
    return worker;
  }
}

const failed = (why: string): TandemError => new TandemError("search_failed", `The search failed: ${why}.`);
