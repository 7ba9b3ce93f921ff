import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { sendJson } from "../deliver.ts";
import type { RefusedHost } from "./proxy-entrance.ts";
import { ProxyEntrance, proxiedHosts } from "./proxy-entrance.ts";
import type { ReceivedRequest } from "../received-request.ts";
import { summarise } from "../received-request.ts";
import { RehearsalError } from "../rehearsal-error.ts";

export interface LoopbackOptions {
  /** Default: any free port. Always on 127.0.0.1. */
  readonly port?: number;
  /** Also a CONNECT proxy that terminates TLS; a list adds hosts to Anthropic's. */
  readonly proxy?: boolean | readonly string[];
  /** Gets one line per request. */
  readonly log?: (line: string) => void;
}

/** Access data of the proxy. */
export interface ProxyAccess {
  readonly url: string;
  readonly caFile: string;
  readonly variables: { readonly HTTPS_PROXY: string; readonly NODE_EXTRA_CA_CERTS: string };
}

/** One request with its response. */
export interface Exchange {
  readonly request: Mutable<ReceivedRequest>;
  readonly rawBody: Buffer;
  /** It came through the proxy, for `request.host`. */
  readonly byProxy: boolean;
  readonly response: ServerResponse;
  /** Fires when the caller closes the connection. */
  readonly signal: AbortSignal;
  /** Closes the connection from our side. */
  readonly cut: () => void;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

interface Handler {
  /** Called with each complete request. */
  exchange(exchange: Exchange): Promise<void>;
  /** Called when a response is complete or its connection is gone. */
  settled(request: ReceivedRequest): void;
  refused(refused: RefusedHost): void;
}

/** A base URL and a proxy on one port of 127.0.0.1; closes all connections at once. */
export class LoopbackServer implements AsyncDisposable {
  readonly #server: Server;
  readonly #options: LoopbackOptions;
  readonly #handler: Handler;
  #entrance: ProxyEntrance | undefined;
  #url = "";

  constructor(options: LoopbackOptions, handler: Handler) {
    this.#options = options;
    this.#handler = handler;
    this.#server = createServer((incoming, response) => void this.#receive(incoming, response));
    // Like the real API: with Node's five seconds, an idle caller may hit a closing connection.
    this.#server.keepAliveTimeout = 120_000;
  }

  get url(): string {
    return this.#url;
  }

  get proxy(): ProxyAccess {
    if (!this.#entrance) throw new Error("There is no proxy here. Start with `proxy: true`.");
    const { caFile } = this.#entrance;
    return { url: this.#url, caFile, variables: { HTTPS_PROXY: this.#url, NODE_EXTRA_CA_CERTS: caFile } };
  }

  async listen(): Promise<void> {
    const { proxy } = this.#options;
    if (proxy) {
      const hosts = proxy === true ? proxiedHosts : [...proxiedHosts, ...proxy];
      this.#entrance = await ProxyEntrance.open(this.#server, hosts, (refused) => this.#refuse(refused));
    }
    return new Promise((resolve, reject) => {
      this.#server.once("error", (error) => {
        this.#entrance?.[Symbol.dispose]();
        const taken = "code" in error && error.code === "EADDRINUSE";
        const fix = "Choose another port, or none for any free one.";
        reject(taken ? new RehearsalError("port_taken", `Port ${this.#options.port} is taken.`, fix, error) : error);
      });
      this.#server.listen(this.#options.port ?? 0, "127.0.0.1", () => {
        this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
        resolve();
      });
    });
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    this.#entrance?.[Symbol.dispose]();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #receive(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const hangUp = new AbortController();
    const tunnelledTo = this.#entrance?.hostOf(incoming.socket);
    let cutByUs = false;
    const request: Mutable<ReceivedRequest> = {
      method: incoming.method ?? "GET",
      host: tunnelledTo ?? incoming.headers.host ?? "",
      path: incoming.url ?? "/",
      headers: incoming.headers,
      body: undefined,
      receivedAt: new Date(),
      answeredBy: undefined,
      status: undefined,
      closedEarly: false,
      finished: false,
    };
    response.on("error", () => undefined);
    response.once("close", () => {
      request.finished = response.writableFinished;
      request.closedEarly = !response.writableFinished && !cutByUs && this.#server.listening;
      request.status = response.headersSent ? response.statusCode : undefined;
      hangUp.abort();
      this.#options.log?.(describe(request));
      this.#handler.settled(request);
    });
    try {
      const rawBody = await readBody(incoming);
      request.body = parse(rawBody);
      if (!request.path.startsWith("/")) {
        // A plain-HTTP proxy request: none of the simulated hosts uses it.
        this.#refuse({ host: request.path, at: request.receivedAt });
        sendJson(response, 403, { error: "This host is not part of the rehearsal." });
        return;
      }
      const cut = () => {
        cutByUs = true;
        response.socket?.destroy();
      };
      const byProxy = tunnelledTo !== undefined;
      await this.#handler.exchange({ request, rawBody, byProxy, response, signal: hangUp.signal, cut });
    } catch (error) {
      if (response.headersSent || response.destroyed) response.destroy();
      else
        sendJson(response, 500, {
          type: "error",
          error: { type: "api_error", message: `Rehearsal: ${String(error)}` },
        });
    }
  }

  #refuse(refused: RefusedHost): void {
    this.#options.log?.(`403 CONNECT ${refused.host} refused: not a host of the rehearsal`);
    this.#handler.refused(refused);
  }
}

function describe(request: ReceivedRequest): string {
  const early = request.closedEarly ? ", closed early by the caller" : "";
  return `${request.status ?? "---"} ${summarise(request)} ${request.answeredBy ?? "unanswered"}${early}`;
}

async function readBody(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

function parse(body: Buffer): unknown {
  const text = body.toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
