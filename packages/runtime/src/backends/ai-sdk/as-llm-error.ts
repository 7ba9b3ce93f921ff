import type { LlmErrorCode } from "@tandem/protocol";
import { LlmError, parseJson } from "@tandem/protocol";
import { z } from "zod";
import { readLimitHeaders } from "./limit-headers.ts";

/** Common fields of errors from the AI SDK, its gateway and Google's library. */
const failureShape = z.object({
  message: z.string().catch(""),
  type: z.string().optional().catch(undefined),
  code: z.string().optional().catch(undefined),
  statusCode: z.number().optional().catch(undefined),
  status: z.number().optional().catch(undefined),
  responseHeaders: z.record(z.string(), z.string()).optional().catch(undefined),
  responseBody: z.string().optional().catch(undefined),
});
type Failure = z.infer<typeof failureShape>;

/** Error bodies of Anthropic, the gateway and Google. */
const errorBody = z.object({
  error: z.object({ message: z.string(), type: z.string().nullish(), status: z.string().nullish() }),
});
const anyErrorBody = z.union([errorBody, z.tuple([errorBody]).transform(([first]) => first)]);

// Codes of undici and the system for connections that failed or broke.
const NETWORK_CODE =
  /^(E(CONN|HOST|NET|PIPE|NOTFOUND|AI_AGAIN|PROTO)|UND_ERR_(SOCKET|CONNECT)|CERT_|ERR_TLS|ERR_SSL|DEPTH_|SELF_SIGNED|UNABLE_TO_)/;
const NETWORK_MESSAGE = /^(terminated|fetch failed|network error|other side closed|socket hang up)$/i;

/** Converts any provider error to an `LlmError`, with the service's retry time. */
export function asLlmError(error: unknown, signal: AbortSignal): LlmError {
  if (error instanceof LlmError) return error;
  if (signal.aborted) return new LlmError("aborted", "The call was aborted.", { cause: error });
  const chain = causesOf(error);
  const own = chain.find((link) => link instanceof LlmError);
  if (own) return own;
  const failures = chain.map((link) => failureShape.safeParse(link)).flatMap((parsed) => parsed.data ?? []);

  const answered = failures.find((failure) => failure.responseBody !== undefined && isError(failure.statusCode));
  if (answered) return fromAnswer(answered, error);
  const timedOut = failures.find((failure) => /^UND_ERR_(HEADERS|BODY)_TIMEOUT$/.test(failure.code ?? ""));
  if (timedOut)
    return new LlmError("timeout", `No sign of life from the service: ${timedOut.message}.`, { cause: error });
  const broken = failures.find(({ code, message }) => NETWORK_CODE.test(code ?? "") || NETWORK_MESSAGE.test(message));
  if (broken)
    return new LlmError("network", `The service could not be reached: ${broken.message || broken.code}.`, {
      cause: error,
    });
  const refused = failures.find(({ statusCode, status, type }) => isError(statusCode ?? status) || type !== undefined);
  if (refused) return fromAnswer({ ...refused, statusCode: refused.statusCode ?? refused.status }, error);

  const message = failures[0]?.message ?? String(error);
  if (/default credentials|API key is missing/i.test(message)) {
    return new LlmError("not_configured", firstSentence(message), { cause: error });
  }
  if (failures.length === 0 || isUnreadable(error)) {
    return new LlmError("server_error", "The service's answer could not be read.", { cause: error });
  }
  return new LlmError("invalid_request", firstSentence(message), { cause: error });
}

/** For requests that we make ourselves. */
export function errorFromResponse(response: Response, responseBody: string): LlmError {
  const responseHeaders = Object.fromEntries(response.headers);
  return fromAnswer(
    { message: response.statusText, statusCode: response.status, responseHeaders, responseBody },
    undefined,
  );
}

function fromAnswer(failure: Partial<Failure>, cause: unknown): LlmError {
  const body = anyErrorBody.safeParse(parseJson(failure.responseBody ?? "")).data?.error;
  const type = body?.type ?? body?.status ?? failure.type ?? "";
  // An error within a stream has no status.
  const status = failure.statusCode ?? (type === "rate_limit_exceeded" ? 429 : 500);
  const message = firstSentence(body?.message || failure.message || `The service answered with status ${status}.`);
  const code = classify(status, type, message);
  const limits = readLimitHeaders(failure.responseHeaders ?? {});
  return new LlmError(code, message, {
    cause,
    status,
    ...(code === "rate_limited" && limits.resetsAt && { resetsAt: limits.resetsAt }),
    ...(limits.retryAfterMs !== undefined && { retryAfterMs: limits.retryAfterMs }),
  });
}

function classify(status: number, type: string, message: string): LlmErrorCode {
  if (type === "overloaded_error" || status === 529 || (status >= 500 && /^overloaded/i.test(message)))
    return "overloaded";
  if (type === "billing_error" || status === 402) return "billing";
  if (
    /credit balance is too low|insufficient (funds|credit)|billing (is|has been) (disabled|not enabled)/i.test(message)
  ) {
    return "billing";
  }
  if (status === 413 || /prompt is too long|exceed(s|ed)? .*context (window|limit|length)/i.test(message)) {
    return "prompt_too_long";
  }
  if (status === 401 || status === 403 || /invalid_(grant|client)/.test(message)) return "auth_rejected";
  // A wrong base URL also answers 404; only the API's own body says what was not found.
  if (status === 404) return /not_found/i.test(type) ? "unknown_model" : "invalid_request";
  if (status === 429) return "rate_limited";
  return status >= 500 ? "server_error" : "invalid_request";
}

function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let link = error; link !== undefined && link !== null && chain.length < 10;) {
    chain.push(link);
    link = typeof link === "object" && "cause" in link ? link.cause : undefined;
  }
  return chain;
}

const isError = (status: number | undefined): boolean => status !== undefined && status >= 400;

/** The AI SDK's error names for a malformed response. */
const isUnreadable = (error: unknown): boolean =>
  error instanceof Error &&
  /(JSONParse|TypeValidation|InvalidResponseData|EmptyResponseBody|NoContentGenerated)Error$/.test(error.name);

/** Some libraries add paragraphs of advice; ours is in `fix`. */
function firstSentence(message: string): string {
  const paragraph = message.split(/\n\s*\n/)[0]!.trim();
  return paragraph.length > 400 ? `${paragraph.slice(0, 400)}…` : paragraph;
}
