import { randomUUID } from "node:crypto";
import { request as httpRequest, type ClientRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { AnswerUsage, TandemError, type Usage } from "@tandem/protocol";
import { GatewayError, sendGatewayError } from "./gateway-error.ts";
import type { ApiOperation } from "./judge-api-request.ts";
import type { ProxyLimits } from "../proxy-server.ts";
import { type HeaderPair, headerPairs } from "../request-headers.ts";
import { upstreamAgents, type UpstreamAgents } from "../upstream-agents.ts";
import { secretFilter, secretsOf, withoutSecrets } from "../secret-filter.ts";

/** Where requests go, and the real credential. */
export interface ApiUpstream {
  /** May contain a path, as `ANTHROPIC_BASE_URL` may. */
  baseUrl: string;
  /** Replace the client's. `anthropic-beta` is added to the client's. */
  headers: Readonly<Record<string, string>>;
  /** Called when the API rejects these headers. Returns whether there are others now. */
  renew?: () => Promise<boolean>;
}

/** The tokens of one request, whether Claude Code or a program of the agent made it. */
export interface ApiUsage {
  /** The service's `request-id`, else a random one. */
  requestId: string;
  /** The id of the message (`msg_…`), which Claude Code reports, too. */
  messageId: string | undefined;
  model: string;
  usage: Usage;
}

export interface ApiGatewayLimits extends ProxyLimits {
  /** Requests at once. */
  requests: number;
  bodyBytes: number;
}

const SENT =
  /^(?:accept|content-type|content-length|user-agent|x-app|x-stainless-[\w-]+|x-claude-[\w-]+|x-client-[\w-]+)$/;
const SENT_API = /^anthropic-(?:version|beta|dangerous-direct-browser-access)$/;
const RETURNED =
  /^(?:content-type|content-length|date|request-id|retry-after|retry-after-ms|x-should-retry|anthropic-ratelimit-[\w-]+)$/;

interface ForwarderOptions {
  upstream: () => Promise<ApiUpstream>;
  onUsage?: (usage: ApiUsage) => void;
  /** The host's variables: its proxy and certificates. */
  variables?: Readonly<Record<string, string | undefined>>;
  limits: ApiGatewayLimits;
}

/** Sends allowed requests to the API with the real credential, and streams the answers back. */
export class ApiForwarder implements Disposable {
  readonly #options: ForwarderOptions;
  readonly #agents: UpstreamAgents;
  readonly #open = new Set<ClientRequest>();
  #active = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
    this.#agents = upstreamAgents(options.variables ?? {});
  }

  /** Ends all requests. Takes no more. */
  [Symbol.dispose](): void {
    for (const sent of this.#open) sent.destroy();
    this.#agents[Symbol.dispose]();
  }

  async forward(request: IncomingMessage, response: ServerResponse, operation: ApiOperation): Promise<void> {
    const { limits } = this.#options;
    request.on("error", () => response.destroy());
    response.on("error", () => response.destroy());
    if (this.#active >= limits.requests) {
      return sendGatewayError(request, response, 503, `More than ${limits.requests} requests at once.`);
    }
    if (Number(request.headers["content-length"] ?? 0) > limits.bodyBytes) {
      return sendGatewayError(request, response, 413, tooLarge(limits).message);
    }
    this.#active += 1;
    try {
      await this.#exchange(request, response, operation);
    } catch (error) {
      const { status, message } = error instanceof GatewayError ? error : unreachable(error);
      sendGatewayError(request, response, status, message);
    } finally {
      this.#active -= 1;
    }
  }

  async #exchange(request: IncomingMessage, response: ServerResponse, operation: ApiOperation): Promise<void> {
    const upstream = await this.#upstream();
    const sent = openRequest(request, upstream, this.#agents);
    this.#open.add(sent);
    sent.once("close", () => this.#open.delete(sent));
    const { idleMs } = this.#options.limits;
    sent.setTimeout(idleMs, () => sent.destroy(new GatewayError(504, `The API was silent for ${idleMs / 1000} s.`)));
    // The client hung up: the model must not continue at the user's expense.
    response.once("close", () => sent.destroy());
    if (response.destroyed) return void sent.destroy();
    const answer = await this.#send(request, sent);
    if (answer.statusCode === 401 && upstream.renew) {
      // The body has been sent and is gone. Claude Code repeats the request, which then gets the new credential.
      if (await upstream.renew()) throw new GatewayError(503, "The login was renewed. Try again.");
      // A refused renewal erases the login, which is what the user has to know.
      await this.#upstream();
    }
    await this.#return(answer, response, secretsOf(upstream.headers), operation === "create");
  }

  async #upstream(): Promise<ApiUpstream> {
    try {
      return await this.#options.upstream();
    } catch (error) {
      // Claude Code would retry a 5xx for minutes.
      throw new GatewayError(401, error instanceof TandemError ? error.message : "The credential cannot be read.");
    }
  }

  async #send(request: IncomingMessage, sent: ClientRequest): Promise<IncomingMessage> {
    const { limits } = this.#options;
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      sent.once("response", resolve);
      sent.on("error", reject);
      sent.once("close", () => reject(new GatewayError(502, "The API closed the connection.")));
    });
    // `pipeline` would destroy the client's connection on an error, which still needs an answer.
    const body = boundedBody(limits);
    body.once("error", (error) => {
      request.unpipe(body);
      sent.destroy(error);
    });
    request.pipe(body).pipe(sent);
    return answered;
  }

  async #return(
    answer: IncomingMessage,
    response: ServerResponse,
    secrets: readonly string[],
    isCounted: boolean,
  ): Promise<void> {
    const status = answer.statusCode ?? 502;
    const encoding = answer.headers["content-encoding"] ?? "identity";
    if ((status >= 300 && status < 400) || encoding !== "identity") {
      answer.destroy();
      const why = encoding === "identity" ? "redirects, which is not followed" : "compresses its answer unasked";
      throw new GatewayError(502, `The model's API ${why}. Check the base URL.`);
    }
    const usage = new AnswerUsage(answer.headers["content-type"] ?? "");
    const headers = returnedHeaders(answer, secrets);
    response.writeHead(status, headers.flat());
    response.flushHeaders();
    let counts = isCounted && status === 200;
    const count = (): void => {
      if (counts) this.#count(usage, answer);
      counts = false;
    };
    try {
      // Counted before the client gets the end: its next request may be refused because of this one.
      await pipeline(answer, tap(usage, count), secretFilter(secrets), response);
    } catch {
      response.destroy();
    } finally {
      count();
    }
  }

  #count(usage: AnswerUsage, { headers }: IncomingMessage): void {
    const { reading, messageId } = usage;
    if (!reading) return;
    const id = headers["request-id"];
    this.#options.onUsage?.({ requestId: typeof id === "string" ? id : randomUUID(), messageId, ...reading });
  }
}

function openRequest(request: IncomingMessage, upstream: ApiUpstream, agents: UpstreamAgents): ClientRequest {
  const base = URL.parse(upstream.baseUrl);
  if (!base || !/^https?:$/.test(base.protocol)) throw new GatewayError(502, "The base URL of the API is not valid.");
  const send = base.protocol === "https:" ? httpsRequest : httpRequest;
  return send({
    agent: agents.for(base.protocol),
    protocol: base.protocol,
    hostname: base.hostname.replaceAll(/^\[|\]$/g, ""),
    port: base.port === "" ? undefined : base.port,
    method: request.method,
    path: base.pathname.replace(/\/+$/, "") + request.url!,
    headers: { ...sentHeaders(headerPairs(request.rawHeaders), upstream.headers), host: base.host },
  });
}

function sentHeaders(
  pairs: readonly HeaderPair[],
  credential: Readonly<Record<string, string>>,
): Record<string, string> {
  const passed = Object.fromEntries(pairs.filter(([name]) => SENT.test(name) || SENT_API.test(name)));
  const real = Object.fromEntries(Object.entries(credential).map(([name, value]) => [name.toLowerCase(), value]));
  const betas = [passed["anthropic-beta"], real["anthropic-beta"]].flatMap((value) => value?.split(/\s*,\s*/) ?? []);
  return {
    ...passed,
    ...real,
    ...(betas.length > 0 && { "anthropic-beta": [...new Set(betas)].join(",") }),
    // Usage is counted and secrets are filtered in plain bytes.
    "accept-encoding": "identity",
  };
}

const returnedHeaders = (answer: IncomingMessage, secrets: readonly string[]): HeaderPair[] =>
  headerPairs(answer.rawHeaders)
    .filter(([name]) => RETURNED.test(name))
    .map(([name, value]) => [name, withoutSecrets(value, secrets)]);

function boundedBody(limits: ApiGatewayLimits): Transform {
  let bytes = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      bytes += chunk.length;
      callback(bytes > limits.bodyBytes ? tooLarge(limits) : null, chunk);
    },
  });
}

const tap = (usage: AnswerUsage, onEnd: () => void): Transform =>
  new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      usage.add(chunk);
      callback(null, chunk);
    },
    flush(callback) {
      usage.end();
      onEnd();
      callback();
    },
  });

const tooLarge = ({ bodyBytes }: ApiGatewayLimits): GatewayError =>
  new GatewayError(413, `The request is larger than ${bodyBytes / 1024 / 1024} MB.`);

/** The error's text stays outside: it may name hosts and proxies of the user's network. */
function unreachable(error: unknown): GatewayError {
  const code = error instanceof Error && "code" in error ? ` (${String(error.code)})` : "";
  return new GatewayError(502, `The model's API cannot be reached${code}.`);
}
