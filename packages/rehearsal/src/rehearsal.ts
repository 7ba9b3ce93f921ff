import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";
import { anthropicDialect } from "./anthropic-dialect.ts";
import { deliver, sendJson } from "./deliver.ts";
import type { Dialect } from "./dialect.ts";
import type { RefreshOutcome, SubscriptionType } from "./login-routes.ts";
import { LoginRoutes } from "./login-routes.ts";
import type { RefusedHost } from "./proxy-entrance.ts";
import { ProxyEntrance, proxiedHosts } from "./proxy-entrance.ts";
import type { ModelRequest, ReceivedRequest } from "./received-request.ts";
import { describeQuestion, summarise } from "./received-request.ts";
import type { Script } from "./script.ts";
import { Prompter } from "./script.ts";
import type { RehearsedModel } from "./side-routes.ts";
import { answerSideRoute, defaultModels } from "./side-routes.ts";

export interface RehearsalOptions {
  /** Default: any free port. Always on 127.0.0.1. */
  readonly port?: number;
  /** What `/v1/models` lists. */
  readonly models?: readonly RehearsedModel[];
  /** Also a CONNECT proxy that ends TLS; a list names hosts to play besides Anthropic's. */
  readonly proxy?: boolean | readonly string[];
  /** How a token refresh goes. Default: `grant`. */
  readonly refresh?: RefreshOutcome;
  /** What the profile of a made-up login says. Default: `max`. */
  readonly subscriptionType?: SubscriptionType;
  /** Gets one line per request. */
  readonly log?: (line: string) => void;
}

/** What a caller needs to come in by the proxy. */
export interface RehearsalProxy {
  readonly url: string;
  readonly caFile: string;
  readonly variables: { readonly HTTPS_PROXY: string; readonly NODE_EXTRA_CA_CERTS: string };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** A stand-in for Anthropic's API on loopback that says what its script says and keeps what it was asked. */
export class Rehearsal implements AsyncDisposable {
  readonly #server: Server;
  readonly #options: RehearsalOptions;
  readonly #entrance: ProxyEntrance | undefined;
  readonly #login = new LoginRoutes();
  readonly #waiters = new Set<() => void>();
  #url = "";
  #prompter: Prompter;
  #requests: ReceivedRequest[] = [];
  #modelRequests: ModelRequest[] = [];
  #misses: { request: ReceivedRequest; message: string }[] = [];
  #refused: RefusedHost[] = [];
  #refresh: RefreshOutcome;

  /** Use `startRehearsal`. */
  constructor(script: Script, options: RehearsalOptions) {
    this.#prompter = new Prompter(script);
    this.#options = options;
    this.#refresh = options.refresh ?? "grant";
    this.#server = createServer((request, response) => void this.#handle(request, response));
    if (!options.proxy) return;
    const hosts = options.proxy === true ? proxiedHosts : [...proxiedHosts, ...options.proxy];
    this.#entrance = new ProxyEntrance(this.#server, hosts, (refused) => this.#refuse(refused));
  }

  /** The base URL: `ANTHROPIC_BASE_URL`, or `baseURL` of an SDK client. */
  get url(): string {
    return this.#url;
  }

  /** The way in for callers that insist on the true host names. */
  get proxy(): RehearsalProxy {
    if (!this.#entrance) throw new Error("This rehearsal has no proxy. Start it with `proxy: true`.");
    const { caFile } = this.#entrance;
    return { url: this.#url, caFile, variables: { HTTPS_PROXY: this.#url, NODE_EXTRA_CA_CERTS: caFile } };
  }

  /** Hosts that were asked for through the proxy and refused. */
  get refused(): readonly RefusedHost[] {
    return this.#refused;
  }

  /** Everything that arrived, in order. */
  get requests(): readonly ReceivedRequest[] {
    return this.#requests;
  }

  /** Those that asked a model. */
  get modelRequests(): readonly ModelRequest[] {
    return this.#modelRequests;
  }

  /** Questions that no reply fitted, each with the message that its sender got. */
  get misses(): readonly { readonly request: ReceivedRequest; readonly message: string }[] {
    return this.#misses;
  }

  /** Replies that no request has taken yet. */
  get unused(): readonly string[] {
    return this.#prompter.unused;
  }

  /** Takes up another script and forgets the requests: one server for many tests. */
  use(script: Script, options: Pick<RehearsalOptions, "refresh"> = {}): void {
    this.#prompter = new Prompter(script);
    this.#refresh = options.refresh ?? this.#options.refresh ?? "grant";
    this.#refused = [];
    this.#requests = [];
    this.#modelRequests = [];
    this.#misses = [];
  }

  /** The first request, come or to come, for which the predicate holds; also asked again as a request's state changes. */
  waitForRequest(
    predicate: (request: ReceivedRequest) => boolean = () => true,
    timeoutMs = 5000,
  ): Promise<ReceivedRequest> {
    return this.#waitFor(() => this.#requests.find(predicate), timeoutMs);
  }

  waitForModelRequest(
    predicate: (request: ModelRequest) => boolean = () => true,
    timeoutMs = 5000,
  ): Promise<ModelRequest> {
    return this.#waitFor(() => this.#modelRequests.find(predicate), timeoutMs);
  }

  /** Throws unless every question got a reply and every reply was asked for. */
  assertDone(): void {
    const problems = [
      ...this.#misses.map(({ message }) => message),
      ...this.#prompter.unused.map((entry) => `Never asked for: ${entry}.`),
    ];
    if (problems.length > 0) throw new Error(`The rehearsal did not go by its script.\n${problems.join("\n")}`);
  }

  /** Ends every connection at once, stalled ones too. */
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

  /** Called once by `startRehearsal`. */
  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once("error", reject);
      this.#server.listen(this.#options.port ?? 0, "127.0.0.1", () => {
        this.#url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
        resolve();
      });
    });
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const hangUp = new AbortController();
    let cutByUs = false;
    const cut = () => {
      cutByUs = true;
      response.socket?.destroy();
    };
    const received: Mutable<ReceivedRequest> = {
      method: incoming.method ?? "GET",
      host: this.#entrance?.hostOf(incoming.socket) ?? incoming.headers.host ?? "",
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
      received.finished = response.writableFinished;
      received.closedEarly = !response.writableFinished && !cutByUs && this.#server.listening;
      received.status = response.headersSent ? response.statusCode : undefined;
      hangUp.abort();
      this.#options.log?.(
        `${received.status ?? "---"} ${summarise(received)} ${received.answeredBy ?? "unanswered"}${received.closedEarly ? ", closed early" : ""}`,
      );
      this.#changed();
    });
    try {
      received.body = await readBody(incoming);
      if (!received.path.startsWith("/")) {
        // A plain-HTTP proxy request: none of our hosts is reached that way.
        this.#refuse({ host: received.path, at: received.receivedAt });
        sendJson(response, 403, { error: "This host is not part of the rehearsal." });
        return;
      }
      const dialect = findDialect(received);
      this.#requests.push(received);
      if (dialect) await this.#answerModel(received, dialect, { response, signal: hangUp.signal, cut });
      else this.#answerSide(received, response);
    } catch (error) {
      if (response.headersSent || response.destroyed) response.destroy();
      else
        sendJson(response, 500, {
          type: "error",
          error: { type: "api_error", message: `The rehearsal failed: ${String(error)}` },
        });
    }
  }

  async #answerModel(
    received: Mutable<ReceivedRequest>,
    dialect: Dialect,
    line: { response: ServerResponse; signal: AbortSignal; cut: () => void },
  ): Promise<void> {
    let request: ModelRequest;
    try {
      // The same object, so that what happens to the request later is seen in both lists.
      request = Object.assign(received, describeQuestion(dialect.name, dialect.read(received)));
    } catch (error) {
      const message = `The rehearsal cannot read ${summarise(received)}: ${explain(error)}`;
      this.#miss(received, message, dialect, line.response);
      return;
    }
    this.#modelRequests.push(request);
    this.#changed();
    const cue = await this.#prompter.cue(request);
    if ("miss" in cue) {
      this.#miss(received, cue.miss, dialect, line.response);
      return;
    }
    received.answeredBy = cue.answeredBy;
    this.#changed();
    await deliver(cue.reply, { dialect, request, ...line });
  }

  #miss(received: Mutable<ReceivedRequest>, message: string, dialect: Dialect, response: ServerResponse): void {
    received.answeredBy = "miss";
    this.#misses.push({ request: received, message });
    sendJson(response, 400, dialect.errorBody("invalid_request_error", message));
  }

  #answerSide(received: Mutable<ReceivedRequest>, response: ServerResponse): void {
    const { answeredBy, status, body } =
      this.#login.answer(received, this.#refresh, this.#options.subscriptionType ?? "max") ??
      answerSideRoute(received, this.#options.models ?? defaultModels);
    received.answeredBy = answeredBy;
    this.#changed();
    sendJson(response, status, body);
  }

  #refuse(refused: RefusedHost): void {
    this.#refused.push(refused);
    this.#options.log?.(`403 CONNECT ${refused.host} refused: not a host of the rehearsal`);
  }

  #changed(): void {
    for (const check of this.#waiters) check();
  }

  #waitFor<T>(find: () => T | undefined, timeoutMs: number): Promise<T> {
    return new Promise((resolve, reject) => {
      const check = () => {
        const found = find();
        if (found === undefined) return;
        clearTimeout(timer);
        this.#waiters.delete(check);
        resolve(found);
      };
      const timer = setTimeout(() => {
        this.#waiters.delete(check);
        const seen = this.#requests.map(summarise).join(", ") || "none";
        reject(new Error(`The request that was waited for did not arrive within ${timeoutMs} ms. Arrived: ${seen}.`));
      }, timeoutMs);
      this.#waiters.add(check);
      check();
    });
  }
}

export async function startRehearsal(script: Script = [], options: RehearsalOptions = {}): Promise<Rehearsal> {
  const rehearsal = new Rehearsal(script, options);
  await rehearsal.listen();
  return rehearsal;
}

function findDialect({ method, path }: ReceivedRequest): Dialect | undefined {
  const { pathname } = new URL(path, "http://rehearsal");
  if (method === "POST" && pathname === "/v1/messages") return anthropicDialect;
  return undefined;
}

async function readBody(incoming: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function explain(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : String(error);
}
