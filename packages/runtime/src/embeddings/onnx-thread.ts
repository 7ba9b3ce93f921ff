// Entry point of a thread with one local model, because its library computes synchronously.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parentPort, workerData } from "node:worker_threads";
import { pool } from "./pool-vectors.ts";

// Messages between the main thread and the model's thread.

export interface OnnxThreadData {
  /** URLs of the libraries. */
  runtime: string;
  tokenizers: string;
  folder: string;
}

export type OnnxRequest = { id: number; texts: readonly string[] };

export type OnnxReply =
  /** The model is loaded, or failed to load. */
  | { type: "loaded"; error?: string }
  | { type: "done"; id: number; vectors: Float32Array[] }
  | { type: "failed"; id: number; error: string };

/** The parts we use of an optional library. */
interface Tensor {
  readonly data: unknown;
  readonly dims: readonly number[];
}
interface Session {
  readonly inputNames: readonly string[];
  readonly outputNames: readonly string[];
  run(feeds: Record<string, Tensor>): Promise<Record<string, Tensor>>;
}
interface OnnxRuntime {
  InferenceSession: { create(file: string): Promise<Session> };
  Tensor: new (type: "int64", data: BigInt64Array, dims: readonly number[]) => Tensor;
}
interface Tokenizers {
  Tokenizer: new (tokenizer: object, config: object) => { encode(text: string): { ids: number[] } };
}

/** Default of nearly all such models. */
const USUAL_LENGTH = 512;
const TEXTS_AT_ONCE = 16;

const port = parentPort!;
const { folder, runtime, tokenizers } = workerData as OnnxThreadData;
const say = (reply: OnnxReply, transfer: ArrayBuffer[] = []): void => port.postMessage(reply, transfer);

try {
  const embed = await load();
  port.on("message", ({ id, texts }: OnnxRequest) => {
    embed(texts).then(
      (vectors) =>
        say(
          { type: "done", id, vectors },
          vectors.map(({ buffer }) => buffer as ArrayBuffer),
        ),
      (error: unknown) => say({ type: "failed", id, error: messageOf(error) }),
    );
  });
  say({ type: "loaded" });
} catch (error) {
  say({ type: "loaded", error: messageOf(error) });
}

async function load(): Promise<(texts: readonly string[]) => Promise<Float32Array[]>> {
  const { InferenceSession, Tensor } = await importNamed<OnnxRuntime>(runtime, "InferenceSession");
  const { Tokenizer } = await importNamed<Tokenizers>(tokenizers, "Tokenizer");
  const described = await readJson("tokenizer.json");
  if (!described) throw new Error("there is no tokenizer.json in the folder");
  const config = (await readJson("tokenizer_config.json")) ?? {};
  const tokenizer = new Tokenizer(described, config);
  const session = await InferenceSession.create(join(folder, "model.onnx"));
  const known = new Set(["input_ids", "attention_mask", "token_type_ids"]);
  const unknown = session.inputNames.find((name) => !known.has(name));
  if (unknown !== undefined) throw new Error(`the model wants "${unknown}", which a text does not have`);
  const longest = longestOf(described, config);
  const pad = numberAt(described, "padding", "pad_id") ?? 0;

  const embedSome = async (texts: readonly string[]): Promise<Float32Array[]> => {
    const encoded = texts.map((text) => shorten(tokenizer.encode(text).ids, longest));
    const length = Math.max(...encoded.map((ids) => ids.length), 1);
    const tensor = (at: (ids: number[], index: number) => number): Tensor => {
      const data = new BigInt64Array(texts.length * length);
      for (const [row, ids] of encoded.entries()) {
        for (let index = 0; index < length; index += 1) data[row * length + index] = BigInt(at(ids, index));
      }
      return new Tensor("int64", data, [texts.length, length]);
    };
    const inputs: Record<string, Tensor> = {
      input_ids: tensor((ids, index) => ids[index] ?? pad),
      attention_mask: tensor((ids, index) => (index < ids.length ? 1 : 0)),
      token_type_ids: tensor(() => 0),
    };
    const feeds = Object.fromEntries(session.inputNames.map((name) => [name, inputs[name]!]));
    const outputs = await session.run(feeds);
    return pool(
      outputs,
      encoded.map((ids) => ids.length),
    );
  };

  return async (texts) => {
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
      vectors.push(...(await embedSome(texts.slice(from, from + TEXTS_AT_ONCE))));
    }
    return vectors;
  };
}

/** Imports an ESM or CommonJS library; `name` is one of its exports. */
async function importNamed<T extends object>(url: string, name: keyof T & string): Promise<T> {
  const found = (await import(url)) as T & { default?: T };
  const library = name in found ? found : found.default;
  if (!library || !(name in library)) throw new Error(`${url} has no ${name}: it is of another version`);
  return library;
}

async function readJson(name: string): Promise<object | undefined> {
  try {
    return JSON.parse(await readFile(join(folder, name), "utf8")) as object;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw new Error(`${name} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}

/** Keep the last token, which ends a text. */
const shorten = (ids: number[], longest: number): number[] =>
  ids.length > longest ? [...ids.slice(0, longest - 1), ids.at(-1)!] : ids;

function longestOf(tokenizer: object, config: object): number {
  const said = numberAt(tokenizer, "truncation", "max_length") ?? numberAt(config, "model_max_length");
  return said !== undefined && said >= 2 ? Math.min(said, USUAL_LENGTH) : USUAL_LENGTH;
}

function numberAt(value: unknown, ...path: string[]): number | undefined {
  for (const name of path) value = (value as Record<string, unknown> | null | undefined)?.[name];
  return typeof value === "number" ? value : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
