import type { Worker } from "node:worker_threads";
import { TandemError } from "@tandem/protocol";
import { ThreadPool } from "@tandem/storage";
import type { Conversion, Converted } from "./convert-document.ts";

// A malicious or broken document can hang a parser or exhaust memory. Only that document must fail, not the server.
const DEADLINE_MS = 60_000;
const MEMORY_MB = 768;

const threads = new ThreadPool(new URL("./document-worker.ts", import.meta.url), {
  maxOldGenerationSizeMb: MEMORY_MB,
});

type Answer = { converted: Converted } | { refusal: { code: string; message: string; fix: string } };

/** Converts documents to passages in a thread of its own, taken on demand and replaced after a failure. */
export class DocumentThread implements AsyncDisposable {
  readonly #deadlineMs: number;
  #worker: Worker | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ deadlineMs = DEADLINE_MS } = {}) {
    this.#deadlineMs = deadlineMs;
  }

  /** Serialised. Rejects with a one-sentence `TandemError` if the document cannot be converted. */
  convert(conversion: Conversion): Promise<Converted> {
    const turn = this.#last.then(() => this.#ask(conversion));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async #ask(conversion: Conversion): Promise<Converted> {
    const worker = (this.#worker ??= threads.take());
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const { path } = conversion;
    let isWell = true;
    const fail = (code: string, message: string) => {
      isWell = false;
      resolve({ refusal: { code, message, fix: "Simplify or split it, or leave it out with `exclude`." } });
    };
    const onExit = () => fail("broken", `${path} takes more memory to read than there is for it.`);
    const onError = (error: Error) =>
      "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY"
        ? onExit()
        : fail("broken", `${path} cannot be read: ${error.message}`);
    let deadline: NodeJS.Timeout | undefined;
    const isLate = () => fail("timeout", `${path} could not be read within ${this.#deadlineMs / 1000} seconds.`);
    const onMessage = (message: Answer | "began") => {
      if (message !== "began") return resolve(message);
      // The start of the thread doesn't count: on a busy machine it takes seconds.
      deadline = setTimeout(isLate, this.#deadlineMs);
    };
    worker.on("message", onMessage).once("error", onError).once("exit", onExit);
    worker.postMessage(conversion, []);
    try {
      const reply = await promise;
      if ("converted" in reply) return reply.converted;
      throw new TandemError(reply.refusal.code, reply.refusal.message, { fix: reply.refusal.fix });
    } finally {
      clearTimeout(deadline);
      worker.off("message", onMessage).off("exit", onExit);
      // It may emit another error while terminating.
      if (isWell) worker.off("error", onError);
      else {
        this.#worker = undefined;
        await worker.terminate();
      }
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last;
    if (this.#worker) threads.giveBack(this.#worker);
    this.#worker = undefined;
  }
}
