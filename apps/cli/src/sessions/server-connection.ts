import { RequestError, TandemError, type RequestErrorCode } from "@tandem/protocol";
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { z } from "zod";
import type { ServerInfo } from "@tandem/tandem/server";

/** A little longer than the server gives itself for a request. */
const DEADLINE_MS = 125_000;

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

const refusal = z.object({ error: z.object({ message: z.string() }) });

const CODES: Record<number, RequestErrorCode> = {
  400: "invalid_request",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  501: "not_supported",
  503: "unavailable",
};

/** Requests to the server of this home, with the token that it keeps for its own clients. Never through a proxy. */
export class ServerConnection implements Disposable {
  readonly url: string;
  readonly #token: string;
  readonly #agent: HttpAgent | HttpsAgent;

  private constructor(url: string, token: string, agent: HttpAgent | HttpsAgent) {
    this.url = url;
    this.#token = token;
    this.#agent = agent;
  }

  static async open(info: ServerInfo): Promise<ServerConnection> {
    const { url, token, agent } = await serverAccess(info);
    return new ServerConnection(url, token, agent);
  }

  /** One request with JSON both ways; what comes back is held against the schema. */
  async call<T>(
    method: "GET" | "POST" | "DELETE",
    path: string,
    {
      schema,
      query = {},
      body,
      signal,
      deadlineMs = DEADLINE_MS,
    }: { schema: z.ZodType<T>; query?: Query; body?: unknown; signal?: AbortSignal; deadlineMs?: number },
  ): Promise<T> {
    const deadline = AbortSignal.timeout(deadlineMs);
    const answer = await this.#request(method, path, {
      query,
      body,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
    return schema.parse(JSON.parse(await readText(answer)));
  }

  /** What is no JSON, as it is. */
  async text(path: string): Promise<string> {
    return readText(await this.#request("GET", path, { query: {}, signal: AbortSignal.timeout(DEADLINE_MS) }));
  }

  /** Whether the server and its database can do their work. */
  async isReady(signal: AbortSignal): Promise<boolean> {
    try {
      (await this.#request("GET", "/readyz", { query: {}, signal })).resume();
      return true;
    } catch {
      return false;
    }
  }

  /** A stream of events; resolves when the server has begun to send. */
  stream(
    path: string,
    { query, lastEventId, signal }: { query: Query; lastEventId: string | undefined; signal: AbortSignal },
  ): Promise<IncomingMessage> {
    return this.#request("GET", path, { query, signal, headers: lastEventId ? { "last-event-id": lastEventId } : {} });
  }

  /** One request as it is; resolves with whatever was answered, refusals too. */
  async send(request: {
    method: string;
    /** With its query. */
    path: string;
    headers: Readonly<Record<string, string>>;
    body: Buffer | undefined;
    signal: AbortSignal;
  }): Promise<IncomingMessage> {
    const { method, path, body, signal } = request;
    const url = new URL(path, this.url);
    return new Promise<IncomingMessage>((resolve, reject) => {
      const headers = {
        ...request.headers,
        authorization: `Bearer ${this.#token}`,
        ...(body && { "content-length": body.length }),
      };
      const start = url.protocol === "https:" ? httpsRequest : httpRequest;
      start(url, { method, headers, agent: this.#agent, signal }, resolve)
        .on("error", (cause) => reject(unreachable(this.url, cause, signal)))
        .end(body);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  async #request(
    method: string,
    path: string,
    options: { query: Query; body?: unknown; signal: AbortSignal; headers?: Record<string, string> },
  ): Promise<IncomingMessage> {
    const url = new URL(path, this.url);
    for (const [name, value] of Object.entries(options.query)) {
      if (Array.isArray(value)) for (const item of value) url.searchParams.append(`${name}[]`, String(item));
      else if (value !== undefined) url.searchParams.append(name, String(value));
    }
    const body = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
    const headers = { ...(body && { "content-type": "application/json" }), ...options.headers };
    const answer = await this.send({ method, path: url.pathname + url.search, headers, body, signal: options.signal });
    if ((answer.statusCode ?? 500) < 300) return answer;
    throw await toError(answer, this.url);
  }
}

/** What it takes to speak to a server of this home: the token that it keeps for its own clients, and its certificate. */
export async function serverAccess({
  url,
  token_file: file,
  certificate,
}: ServerInfo): Promise<{ url: string; token: string; agent: HttpAgent | HttpsAgent }> {
  const token = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new TandemError("token_file", `The token of the server at ${url} cannot be read from ${file}.`, {
      fix: "Start the server again: a missing token is made anew.",
      cause,
    });
  });
  const agent = certificate ? await pinnedAgent(certificate) : new HttpAgent({ keepAlive: true });
  return { url, token: token.trim(), agent };
}

/** Believes the one certificate that the server is known to have, whoever signed it and whatever name it is for. */
async function pinnedAgent(file: string): Promise<HttpsAgent> {
  const chain = await readFile(file, "utf8");
  const pinned = new X509Certificate(chain).fingerprint256;
  return new HttpsAgent({
    keepAlive: true,
    ca: chain,
    allowPartialTrustChain: true,
    checkServerIdentity: (_host, { fingerprint256 }) =>
      fingerprint256 === pinned ? undefined : new Error("the server has another certificate than it should"),
  });
}

async function readText(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of answer as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function toError(answer: IncomingMessage, url: string): Promise<TandemError> {
  const status = answer.statusCode ?? 0;
  const text = await readText(answer).catch(() => "");
  const parsed = refusal.safeParse(parseJson(text));
  const message = parsed.success ? parsed.data.error.message : `The server at ${url} answered with ${status}.`;
  const code = CODES[status];
  if (code) return new RequestError(code, message);
  if (status === 401) {
    return new TandemError("token_rejected", `The server at ${url} does not take its own token any more.`, {
      fix: "Start it again: a token that was revoked is replaced.",
    });
  }
  return new TandemError("server_failed", message, { fix: "Look into `tandem logs --level error`." });
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function unreachable(url: string, cause: unknown, signal: AbortSignal): Error {
  if (signal.aborted && (signal.reason as Error).name === "AbortError") return signal.reason as Error;
  const why = signal.aborted ? `did not answer within ${DEADLINE_MS / 1000} s` : "cannot be reached";
  return new TandemError("network", `The server at ${url} ${why}.`, {
    fix: "See whether it runs with `tandem status`, or start it with `tandem up`.",
    cause,
  });
}
