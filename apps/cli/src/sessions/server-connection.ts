import { createClient, type ApiError, type Client, type ClientRequest, type ClientResponse } from "@tandem/client";
import { MissingVariable, RequestError, TandemError, type RequestErrorCode } from "@tandem/protocol";
import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { Agent as HttpAgent, IncomingMessage } from "node:http";
import type { Agent as HttpsAgent } from "node:https";
import { buffer } from "node:stream/consumers";
import type { ServerInfo } from "@tandem/tandem/server";

// To import `node:http`, or to use `Headers` or `Response`, loads Node's `fetch`, which takes longer than a short command runs.
const loadHttp = () => process.getBuiltinModule("node:http");
const loadHttps = () => process.getBuiltinModule("node:https");

/** A little longer than the server gives itself for a request. */
export const DEADLINE_MS = 125_000;

const CODES: Record<number, RequestErrorCode> = {
  400: "invalid_request",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  413: "too_large",
  501: "not_supported",
  503: "unavailable",
};

type ServerAddress = Pick<ServerInfo, "url" | "token_file" | "certificate">;

/** Requests to the server of this home, with the token that it keeps for its own clients. Never through a proxy. */
export class ServerConnection implements Disposable {
  readonly url: string;
  /** The typed API. Its errors are a `RequestError` or another `TandemError`. */
  readonly api: Client<ServerAnswer>;
  readonly #token: string;
  readonly #agent: HttpAgent | HttpsAgent;

  private constructor(url: string, token: string, agent: HttpAgent | HttpsAgent) {
    this.url = url;
    this.#token = token;
    this.#agent = agent;
    this.api = createClient({
      fetch: (path, init) => this.#fetch(path, init),
      toError: (error) => toError(error, url),
    });
  }

  static async open(info: ServerAddress): Promise<ServerConnection> {
    const { url, token, agent } = await serverAccess(info);
    return new ServerConnection(url, token, agent);
  }

  /** Whether the server and its database can do their work. */
  async isReady(signal: AbortSignal): Promise<boolean> {
    try {
      const answer = await this.send({ method: "GET", path: "/readyz", headers: {}, body: undefined, signal });
      answer.resume();
      return (answer.statusCode ?? 500) < 300;
    } catch {
      return false;
    }
  }

  /** One request; resolves with any answer, also an error. */
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
      const { request: start } = url.protocol === "https:" ? loadHttps() : loadHttp();
      start(url, { method, headers, agent: this.#agent, signal }, resolve)
        .on("error", (cause) => reject(unreachable(this.url, cause, signal)))
        .end(body);
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  /** `send` in the form of `fetch`. A request without a signal of its own gets the usual deadline. */
  async #fetch(path: string, { signal, method = "GET", headers, body }: ClientRequest): Promise<ServerAnswer> {
    const isText = typeof body === "string" || body === undefined || body === null;
    const form = isText ? undefined : new Request(new URL(path, this.url), { method, body });
    const bytes = form ? Buffer.from(await form.arrayBuffer()) : Buffer.from(isText ? (body ?? "") : "");
    const answer = await this.send({
      method,
      path,
      headers: { ...headers, ...(form && Object.fromEntries(form.headers)) },
      body: bytes.length === 0 ? undefined : bytes,
      signal: signal ?? AbortSignal.timeout(DEADLINE_MS),
    });
    if (answer.statusCode === 204) answer.resume();
    return new ServerAnswer(answer);
  }
}

/** The part of a `Response` that commands use. */
class ServerAnswer implements ClientResponse {
  readonly status: number;
  readonly body: AsyncIterable<Uint8Array>;
  readonly #message: IncomingMessage;

  constructor(message: IncomingMessage) {
    this.status = message.statusCode ?? 500;
    this.body = message;
    this.#message = message;
  }

  get ok(): boolean {
    return this.status >= 200 && this.status < 300;
  }

  bytes(): Promise<Buffer> {
    return buffer(this.#message);
  }

  async text(): Promise<string> {
    return (await this.bytes()).toString("utf8");
  }

  async json(): Promise<unknown> {
    return JSON.parse(await this.text()) as unknown;
  }
}

/** The token and the certificate that clients of this home's server need. */
export async function serverAccess({
  url,
  token_file: file,
  certificate,
}: ServerAddress): Promise<{ url: string; token: string; agent: HttpAgent | HttpsAgent }> {
  const token = await readFile(file, "utf8").catch((cause: unknown) => {
    throw new TandemError("token_file", `The token of the server at ${url} cannot be read from ${file}.`, {
      fix: "Restart the server: it creates a missing token.",
      cause,
    });
  });
  const agent = certificate ? await pinnedAgent(certificate) : new (loadHttp().Agent)({ keepAlive: true });
  return { url, token: token.trim(), agent };
}

/** Accepts only the certificate that the server is known to have, regardless of its issuer and name. */
async function pinnedAgent(file: string): Promise<HttpsAgent> {
  const chain = await readFile(file, "utf8");
  const pinned = new X509Certificate(chain).fingerprint256;
  return new (loadHttps().Agent)({
    keepAlive: true,
    ca: chain,
    allowPartialTrustChain: true,
    checkServerIdentity: (_host, { fingerprint256 }) =>
      fingerprint256 === pinned ? undefined : new Error("the server has an unexpected certificate"),
  });
}

function toError(error: ApiError, url: string): Error {
  const { status, type, cause } = error;
  if (cause instanceof Error) return cause;
  const message = type === "unknown" ? `The server at ${url} answered with ${status}.` : error.message;
  const [variable] = error.missingVariables;
  if (variable !== undefined) return new MissingVariable(variable, message, {});
  const code = CODES[status];
  if (code) return new RequestError(code, message);
  if (status === 401) {
    return new TandemError("token_rejected", `The server at ${url} rejects its own token.`, {
      fix: "Restart the server: it replaces a revoked token.",
    });
  }
  return new TandemError("server_failed", message, { fix: "See `tandem logs --level error`." });
}

function unreachable(url: string, cause: unknown, signal: AbortSignal): Error {
  if (signal.aborted && (signal.reason as Error).name === "AbortError") return signal.reason as Error;
  const why = signal.aborted ? `did not answer within ${DEADLINE_MS / 1000} s` : "cannot be reached";
  return new TandemError("network", `The server at ${url} ${why}.`, {
    fix: "Check it with `tandem status`, or start it with `tandem up`.",
    cause,
  });
}
