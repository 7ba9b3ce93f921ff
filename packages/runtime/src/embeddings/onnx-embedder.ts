import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { LlmError } from "@tandem/protocol";
import { orAborted } from "../or-aborted.ts";
import { refuseEmpty, VectorCheck } from "./check-vectors.ts";
import type { Embedder } from "./embedder.ts";
import type { OnnxReply, OnnxRequest, OnnxThreadData } from "./onnx-thread.ts";

const RUNTIME = "onnxruntime-node";
const TOKENIZERS = "@huggingface/tokenizers";
/** Small batches, so that aborts and deadlines take effect between them. */
const TEXTS_PER_REQUEST = 64;
const DEADLINE_MS = 300_000;

/** A local model in a folder, computed in its own thread, which starts with the first text. */
export async function createOnnxEmbedder(path: string, folder: string): Promise<Embedder> {
  const place = resolve(folder, path);
  const data: OnnxThreadData = {
    runtime: locate(RUNTIME, folder),
    tokenizers: locate(TOKENIZERS, folder),
    folder: place,
  };
  const model = `${basename(place)}@${await digest(join(place, "model.onnx"))}`;
  const vectors = new VectorCheck();
  const closing = new AbortController();
  let thread: Promise<OnnxThread> | undefined;
  const open = (): Promise<OnnxThread> => {
    const opening = OnnxThread.open(data, () => (thread = undefined));
    // The next call tries again.
    opening.catch(() => (thread = undefined));
    return opening;
  };
  return {
    model,
    async embed(texts, { signal: caller } = {}) {
      refuseEmpty(texts);
      const signal = AbortSignal.any([closing.signal, ...(caller ? [caller] : [])]);
      const made: Float32Array[] = [];
      for (let from = 0; from < texts.length; from += TEXTS_PER_REQUEST) {
        const some = texts.slice(from, from + TEXTS_PER_REQUEST);
        const vectorsOfSome = await within(signal, async () => (await (thread ??= open())).embed(some));
        vectors.check(vectorsOfSome, some.length);
        made.push(...vectorsOfSome);
      }
      return made;
    },
    async close() {
      closing.abort();
      await (await thread?.catch(() => undefined))?.close();
    },
  };
}

async function within<T>(caller: AbortSignal, work: () => Promise<T>): Promise<T> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const signal = AbortSignal.any([caller, deadline]);
  try {
    signal.throwIfAborted();
    return await orAborted(work(), signal);
  } catch (error) {
    if (error instanceof LlmError) throw error;
    if (caller.aborted) throw new LlmError("aborted", "The call was aborted.", { cause: error });
    throw new LlmError("timeout", `The local embedding model took more than ${DEADLINE_MS / 60_000} minutes.`, {
      cause: error,
      fix: "Choose a smaller model.",
    });
  }
}

/** Installed beside Tandem, or in the project. */
function locate(name: string, folder: string): string {
  for (const from of [import.meta.url, pathToFileURL(join(resolve(folder), "package.json"))]) {
    try {
      return pathToFileURL(createRequire(from).resolve(name)).href;
    } catch {}
  }
  throw new LlmError("not_configured", `A local embedding model needs the package ${name}, which is not installed.`, {
    fix: `Run \`npm install ${RUNTIME} ${TOKENIZERS}\` where Tandem is installed, or in the project.`,
  });
}

/** Identifies a model by its content, because a file can be replaced under the same name. */
async function digest(file: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    await pipeline(createReadStream(file), hash);
  } catch (cause) {
    throw new LlmError("not_configured", `The embedding model ${file} cannot be read.`, {
      cause,
      fix: "Set embeddings.path in tandem.yaml to a folder with model.onnx and tokenizer.json.",
    });
  }
  return hash.digest("hex").slice(0, 12);
}

interface Pending {
  resolve: (vectors: Float32Array[]) => void;
  reject: (error: LlmError) => void;
}

/** Main-thread client. */
class OnnxThread {
  readonly #worker: Worker;
  readonly #pending = new Map<number, Pending>();
  readonly #loaded = Promise.withResolvers<void>();
  #count = 0;

  private constructor(data: OnnxThreadData, onEnd: () => void) {
    this.#worker = new Worker(new URL("./onnx-thread.ts", import.meta.url), { workerData: data, env: {} });
    this.#worker.on("message", (reply: OnnxReply) => this.#hear(reply));
    const end = (why: string): void => {
      const error = failed(why);
      this.#loaded.reject(error);
      for (const { reject } of this.#pending.values()) reject(error);
      this.#pending.clear();
      onEnd();
    };
    this.#worker.on("error", (error) => end(error instanceof Error ? error.message : String(error)));
    this.#worker.on("exit", () => end("its thread has ended"));
  }

  static async open(data: OnnxThreadData, onEnd: () => void): Promise<OnnxThread> {
    const thread = new OnnxThread(data, onEnd);
    await thread.#loaded.promise;
    // The thread keeps the process alive only while a request is pending.
    thread.#worker.unref();
    return thread;
  }

  embed(texts: readonly string[]): Promise<Float32Array[]> {
    return new Promise((resolve, reject) => {
      this.#count += 1;
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(this.#count, { resolve, reject });
      this.#worker.postMessage({ id: this.#count, texts } satisfies OnnxRequest, []);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #hear(reply: OnnxReply): void {
    if (reply.type === "loaded") {
      if (reply.error === undefined) this.#loaded.resolve();
      else {
        this.#loaded.reject(failed(reply.error));
        void this.#worker.terminate();
      }
      return;
    }
    const pending = this.#pending.get(reply.id);
    this.#pending.delete(reply.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if (reply.type === "done") pending?.resolve(reply.vectors);
    else pending?.reject(failed(reply.error));
  }
}

const failed = (why: string): LlmError =>
  new LlmError("not_configured", `The local embedding model cannot be used: ${why}.`, {
    fix: "Check embeddings.path in tandem.yaml: it needs a model of the kind BERT and its tokenizer.json.",
  });
