import {
  AnswerUsage,
  type LlmConfig,
  LlmError,
  type PassedAnswer,
  type PassedRequest,
  RequestError,
} from "@tandem/protocol";
import { asLlmError } from "../backends/ai-sdk/as-llm-error.ts";
import type { Upstream } from "./upstream.ts";

/** An answer that is not streamed comes whole. The official client waits as long. */
const WHOLE_ANSWER_MS = 600_000;
const API_VERSION = "2023-06-01";
const PASSED = /^(content-type|request-id|retry-after|retry-after-ms|x-should-retry|anthropic-ratelimit-.*)$/;

/** Sends one request. It is never retried: the caller's client does that. */
export async function passMessages(
  upstream: Upstream,
  request: PassedRequest,
  limits: Pick<LlmConfig["limits"], "firstByte" | "idle">,
): Promise<PassedAnswer> {
  const { operation, parsed, headers } = request;
  const isWhole = operation === "create" && !parsed.stream;
  const watch = new Watch(request.signal);
  try {
    watch.start(isWhole ? WHOLE_ANSWER_MS : limits.firstByte);
    const { url, headers: credential, body } = await upstream.address(request);
    const response = await fetch(url, {
      method: "POST",
      headers: {
        // Compressed frames would arrive late.
        "accept-encoding": "identity",
        "anthropic-version": API_VERSION,
        ...headers,
        "content-type": "application/json",
        ...credential,
      },
      body: Buffer.from(body),
      // A redirect would send the credential elsewhere.
      redirect: "error",
      signal: watch.signal,
    });
    const secret = credential["authorization"]?.replace("Bearer ", "") ?? upstream.secret;
    if (!response.ok) return await failed(response, secret, watch);
    const usage = new AnswerUsage(response.headers.get("content-type") ?? "");
    return {
      status: response.status,
      headers: passedHeaders(response),
      body: passing(response, usage, watch, limits.idle),
      usage: () => usage.reading,
    };
  } catch (error) {
    watch.stop();
    throw watch.reason(error);
  }
}

/** Errors pass through, except that the caller's own credential is not the one that was rejected. */
async function failed(response: Response, secret: string | undefined, watch: Watch): Promise<PassedAnswer> {
  const text = await response.text();
  watch.stop();
  if (response.status === 401) {
    throw new LlmError("auth_rejected", "The model's service rejected the credential of the configured backend.");
  }
  const body = Buffer.from(secret ? text.replaceAll(secret, "[redacted]") : text);
  return {
    status: response.status,
    headers: passedHeaders(response),
    body: (async function* () {
      yield body;
    })(),
    usage: () => undefined,
  };
}

async function* passing(
  response: Response,
  usage: AnswerUsage,
  watch: Watch,
  idleMs: number,
): AsyncGenerator<Uint8Array> {
  try {
    watch.start(idleMs);
    for await (const chunk of response.body ?? []) {
      // A slow reader is no silence of the service.
      watch.stop();
      usage.add(chunk);
      yield chunk;
      watch.start(idleMs);
    }
    usage.end();
  } catch (error) {
    throw watch.reason(error);
  } finally {
    watch.stop();
  }
}

const passedHeaders = ({ headers }: Response): Record<string, string> =>
  Object.fromEntries([...headers].filter(([name]) => PASSED.test(name)));

/** Aborts a request that the service does not answer in time. */
class Watch {
  readonly signal: AbortSignal;
  readonly #caller: AbortSignal;
  readonly #stalled = new AbortController();
  #timer: NodeJS.Timeout | undefined;

  constructor(caller: AbortSignal) {
    this.#caller = caller;
    this.signal = AbortSignal.any([caller, this.#stalled.signal]);
  }

  start(ms: number): void {
    clearTimeout(this.#timer);
    const silent = new LlmError("timeout", `The model's service was silent for ${ms / 1000} s.`);
    this.#timer = setTimeout(() => this.#stalled.abort(silent), ms);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  reason(error: unknown): unknown {
    if (this.#stalled.signal.aborted) return this.#stalled.signal.reason;
    return error instanceof RequestError ? error : asLlmError(error, this.#caller);
  }
}
