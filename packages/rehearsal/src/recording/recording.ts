import { rmSync } from "node:fs";
import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { sendJson } from "../deliver.ts";
import { findDialect } from "../dialects/find-dialect.ts";
import { type Exchange, type LoopbackOptions, LoopbackServer, type ProxyAccess } from "../server/loopback-server.ts";
import { type ProviderUrls, providerUrls } from "../rehearsal.ts";
import type { RefusedHost } from "../server/proxy-entrance.ts";
import { type RecordedLine, RecordingWriter } from "./recording-file.ts";
import { RecordingRedactor } from "./recording-redactor.ts";
import { rewriteBody, rewriteStrings } from "./rewrite-body.ts";

export interface RecordingOptions extends LoopbackOptions {
  /** The file to write. It must not exist. */
  readonly file: string;
  /** Upstream URL. Default: the requested host, or `https://api.anthropic.com` for the base URL. */
  readonly upstream?: string;
  /** Idle timeout of the upstream. Default: ten minutes. */
  readonly timeoutMs?: number;
}

export async function startRecording(options: RecordingOptions): Promise<Recording> {
  const recording = new Recording(options);
  try {
    await recording.listen();
  } catch (error) {
    await recording.close();
    rmSync(options.file);
    throw error;
  }
  return recording;
}

/** Forwards everything to the real API, and records model requests and answers. */
export class Recording implements AsyncDisposable {
  readonly #options: RecordingOptions;
  readonly #server: LoopbackServer;
  readonly #writer: RecordingWriter;
  readonly #redactor = new RecordingRedactor();
  readonly #pending = new Set<Promise<void>>();
  readonly #refused: RefusedHost[] = [];
  readonly #agents = {
    "http:": new HttpAgent({ keepAlive: true }),
    // Outgoing requests may use a proxy.
    "https:": new HttpsAgent({ keepAlive: true, proxyEnv: process.env }),
  };
  #count = 0;
  #closed = false;
  #failure: unknown;

  /** Use `startRecording`. */
  constructor(options: RecordingOptions) {
    this.#options = options;
    this.#writer = new RecordingWriter(options.file);
    this.#server = new LoopbackServer(options, {
      exchange: (exchange) => this.#pass(exchange),
      settled: () => undefined,
      refused: (refused) => this.#refused.push(refused),
    });
  }

  listen(): Promise<void> {
    return this.#server.listen();
  }

  get url(): string {
    return this.#server.url;
  }

  get providerUrls(): ProviderUrls {
    return providerUrls(this.url);
  }

  get proxy(): ProxyAccess {
    return this.#server.proxy;
  }

  get refused(): readonly RefusedHost[] {
    return this.#refused;
  }

  /** Number of model requests so far. */
  get count(): number {
    return this.#count;
  }

  /** Closes every connection; started exchanges are recorded as incomplete. Throws if a line could not be written. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#server.close();
    await Promise.allSettled(this.#pending);
    for (const agent of Object.values(this.#agents)) agent.destroy();
    this.#writer[Symbol.dispose]();
    if (this.#failure) throw this.#failure;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #pass(exchange: Exchange): Promise<void> {
    const passing = this.#forward(exchange);
    this.#pending.add(passing);
    await passing.finally(() => this.#pending.delete(passing));
  }

  async #forward(exchange: Exchange): Promise<void> {
    const { request, response } = exchange;
    const asksModel = findDialect(request) !== undefined;
    const number = asksModel ? ++this.#count : 0;
    this.#redactor.learnHeaders(request.headers);
    if (!asksModel) this.#redactor.learnBody(request.body);
    request.answeredBy = "upstream";

    let answer: IncomingMessage;
    try {
      answer = await this.#send(exchange);
    } catch (error) {
      if (exchange.signal.aborted) return;
      const message = `The recording could not reach the upstream: ${error instanceof Error ? error.message : String(error)}`;
      sendJson(response, 502, { type: "error", error: { type: "api_error", message } });
      return;
    }
    response.writeHead(answer.statusCode ?? 502, withoutHopHeaders(answer.headers));
    response.flushHeaders();
    const chunks: Buffer[] = [];
    let complete = true;
    try {
      for await (const chunk of answer) {
        chunks.push(chunk as Buffer);
        response.write(chunk);
      }
      response.end();
    } catch {
      // The caller or the upstream closed the connection: keep the part received, and close the caller's connection
      // too.
      complete = false;
      response.destroy();
    }
    const whole = decode(Buffer.concat(chunks), answer.headers["content-encoding"]);
    // A partial event cannot be parsed, so it cannot be redacted either; drop it.
    const body = complete ? whole : whole.slice(0, whole.lastIndexOf("\n\n") + 2);
    if (asksModel) this.#writeExchange(exchange, number, answer, body, complete);
    else this.#writeAside(exchange, answer, body);
  }

  #send({ request, rawBody, byProxy, signal }: Exchange): Promise<IncomingMessage> {
    const base = this.#options.upstream ?? (byProxy ? `https://${request.host}` : "https://api.anthropic.com");
    const url = new URL(`${base.replace(/\/$/, "")}${request.path}`);
    const headers = { ...withoutHopHeaders(request.headers), host: url.host, "accept-encoding": "identity" };
    return new Promise((resolve, reject) => {
      const secure = url.protocol === "https:";
      const send = secure ? requestHttps : requestHttp;
      const agent = this.#agents[secure ? "https:" : "http:"];
      const timeout = this.#options.timeoutMs ?? 600_000;
      const outgoing = send(url, { method: request.method, headers, agent, signal, timeout }, resolve);
      outgoing.once("timeout", () => outgoing.destroy(new Error(`no answer within ${timeout} ms`)));
      outgoing.once("error", reject);
      outgoing.end(rawBody);
    });
  }

  #writeExchange(exchange: Exchange, number: number, answer: IncomingMessage, body: string, complete: boolean): void {
    const { method, host, path, headers, receivedAt } = exchange.request;
    const redact = (text: string) => this.#redactor.redact(text);
    this.#write({
      type: "exchange",
      number,
      at: receivedAt.toISOString(),
      request: {
        method,
        host,
        path: withoutSecretParameters(path),
        headers: keep(headers, requestHeaders),
        body: rewriteStrings(withoutIdentity(exchange.request.body), redact),
      },
      response: {
        status: answer.statusCode ?? 0,
        headers: keep(answer.headers, responseHeaders),
        body: rewriteBody(body, redact),
        complete,
        ms: Date.now() - receivedAt.getTime(),
      },
    });
  }

  #write(line: RecordedLine): void {
    try {
      this.#writer.write(line);
    } catch (error) {
      // The caller continues; `close` reports that the recording is incomplete.
      this.#failure ??= error;
      this.#options.log?.(`--- ${this.#options.file} cannot be written: ${String(error)}`);
    }
  }

  #writeAside({ request }: Exchange, answer: IncomingMessage, body: string): void {
    try {
      this.#redactor.learnBody(JSON.parse(body));
    } catch {
      // Not JSON: it cannot be searched for secrets, so nothing of it is written.
    }
    this.#write({
      type: "aside",
      at: request.receivedAt.toISOString(),
      method: request.method,
      host: request.host,
      path: withoutSecretParameters(request.path),
      status: answer.statusCode ?? 0,
    });
  }
}

/** An allowlist of headers, so that no credential is written under an unexpected name. */
const requestHeaders =
  /^(content-type|accept|user-agent|x-app|anthropic-(version|beta)|ai-language-model-.*|ai-gateway-protocol-version)$/;
const responseHeaders = /^(content-type|request-id|retry-after|x-should-retry|anthropic-ratelimit-.*)$/;
const hopHeaders = /^(connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade|host|content-length)$/;

function keep(headers: IncomingMessage["headers"], names: RegExp): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (names.test(name) ? [[name, String(value)]] : [])),
  );
}

function withoutHopHeaders(headers: IncomingMessage["headers"]): IncomingMessage["headers"] {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopHeaders.test(name)));
}

function withoutSecretParameters(path: string): string {
  return path.replaceAll(/([?&][^=&]*(?:key|token|secret|code|auth|signature)[^=&]*=)[^&]*/gi, "$1[redacted]");
}

/** `metadata` identifies the user, the machine and the session. */
function withoutIdentity(body: unknown): unknown {
  if (typeof body !== "object" || body === null || !("metadata" in body)) return body;
  const { metadata: _identity, ...rest } = body;
  return rest;
}

function decode(body: Buffer, encoding: string | undefined): string {
  try {
    if (encoding === "gzip") return gunzipSync(body).toString();
    if (encoding === "br") return brotliDecompressSync(body).toString();
    if (encoding === "deflate") return inflateSync(body).toString();
    if (encoding === "zstd") return zstdDecompressSync(body).toString();
  } catch {
    return "";
  }
  return body.toString();
}
