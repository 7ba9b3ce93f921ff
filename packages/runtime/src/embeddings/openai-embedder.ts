import { LlmError, type LlmErrorCode } from "@tandem/protocol";
import { z } from "zod";
import { asLlmError, errorFromResponse } from "../backends/ai-sdk/as-llm-error.ts";
import type { GovernorClock } from "../governor-clock.ts";
import { Governor } from "../governor.ts";
import { refuseEmpty, VectorCheck } from "./check-vectors.ts";
import type { Embedder } from "./embedder.ts";

/** Every service accepts this many; larger batches make a failed request more expensive. */
const TEXTS_PER_REQUEST = 64;
const LETTERS_PER_REQUEST = 100_000;
const LIMITS = { concurrency: 4, attempts: 5 };
const PATIENCE_MS = 300_000;
const DEADLINE_MS = 120_000;

const answerShape = z.object({
  data: z.array(z.object({ index: z.int().optional(), embedding: z.array(z.number()) })),
});

export interface OpenAiSettings {
  model: string;
  baseUrl: string;
  apiKey: string | undefined;
}

/** `POST {baseUrl}/embeddings`, the API of OpenAI and compatible services. */
export function createOpenAiEmbedder(settings: OpenAiSettings, clock: GovernorClock): Embedder {
  const governor = new Governor(LIMITS, clock);
  const closing = new AbortController();
  const vectors = new VectorCheck();
  return {
    model: settings.model,
    async embed(texts, options = {}) {
      refuseEmpty(texts);
      const failed = new AbortController();
      const signals = [closing.signal, failed.signal, ...(options.signal ? [options.signal] : [])];
      const signal = AbortSignal.any(signals);
      const onWait = options.onWait ?? (() => {});
      const portions = [...portionsOf(texts)].map(async (portion) => {
        const { attempt } = governor.begin({ model: settings.model, signal, patienceMs: PATIENCE_MS, onWait });
        const made = await attempt(() => request(settings, portion, signal));
        vectors.check(made, portion.length);
        return made;
      });
      try {
        return (await Promise.all(portions)).flat();
      } catch (error) {
        throw asLlmError(error, signal);
      } finally {
        // One failure makes the other requests useless: abort them.
        failed.abort();
        await Promise.allSettled(portions);
      }
    },
    close: () => {
      closing.abort();
      return Promise.resolve();
    },
  };
}

function* portionsOf(texts: readonly string[]): Generator<string[]> {
  let portion: string[] = [];
  let letters = 0;
  for (const text of texts) {
    if (portion.length > 0 && (portion.length === TEXTS_PER_REQUEST || letters + text.length > LETTERS_PER_REQUEST)) {
      yield portion;
      portion = [];
      letters = 0;
    }
    portion.push(text);
    letters += text.length;
  }
  if (portion.length > 0) yield portion;
}

async function request(
  { model, baseUrl, apiKey }: OpenAiSettings,
  input: readonly string[],
  callerSignal: AbortSignal,
): Promise<Float32Array[]> {
  const deadline = AbortSignal.timeout(DEADLINE_MS);
  const signal = AbortSignal.any([callerSignal, deadline]);
  try {
    const response = await fetch(`${baseUrl.replace(/\/+$/, "")}/embeddings`, {
      method: "POST",
      headers: { "content-type": "application/json", ...(apiKey && { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify({ model, input, encoding_format: "float" }),
      // The texts go to the configured service only.
      redirect: "manual",
      signal,
    });
    const body = await response.text();
    if (!response.ok) throw errorFromResponse(response, body);
    return read(body);
  } catch (error) {
    if (deadline.aborted && !callerSignal.aborted) {
      const message = `The embeddings endpoint did not answer within ${DEADLINE_MS / 1000} s.`;
      throw new LlmError("timeout", message, {
        cause: error,
        fix: "Check that the endpoint is running, and try again.",
      });
    }
    throw explain(asLlmError(error, callerSignal));
  }
}

function read(body: string): Float32Array[] {
  let data: z.output<typeof answerShape>["data"];
  try {
    ({ data } = answerShape.parse(JSON.parse(body)));
  } catch (cause) {
    throw new LlmError("server_error", "The endpoint's answer is no list of embeddings.", { cause, final: true });
  }
  // In text order, which services need not keep.
  if (data.every(({ index }) => index !== undefined)) data.sort((a, b) => a.index! - b.index!);
  return data.map(({ embedding }) => Float32Array.from(embedding));
}

/** Fixes for embeddings differ from those of the LLM backend. */
const FIXES: Partial<Record<LlmErrorCode, string>> = {
  auth_rejected: "Check embeddings.apiKey in tandem.yaml.",
  unknown_model: "Check embeddings.model in tandem.yaml.",
  network: "Check embeddings.baseUrl in tandem.yaml, and that the endpoint is running.",
  server_error: "Check embeddings.baseUrl in tandem.yaml; try again in a few minutes.",
  invalid_request: "Check embeddings.baseUrl and embeddings.model in tandem.yaml.",
  prompt_too_long: "Embed shorter texts, or choose a model that takes longer ones.",
};

function explain(error: LlmError): LlmError {
  const isUnknown = error.status === 404 && /model/i.test(error.message);
  const code = isUnknown ? "unknown_model" : error.code;
  const { message, status, resetsAt, retryAfterMs, final, cause } = error;
  return new LlmError(code, message, {
    cause,
    status,
    final,
    fix: FIXES[code] ?? error.fix,
    ...(resetsAt && { resetsAt }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
