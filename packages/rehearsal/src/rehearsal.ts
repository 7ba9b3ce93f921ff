import { z } from "zod";
import { deliver, sendJson } from "./deliver.ts";
import type { WireDialect } from "./dialects/wire-dialect.ts";
import { findDialect } from "./dialects/find-dialect.ts";
import { LoginRoutes, type RefreshOutcome, type SubscriptionType } from "./server/login-routes.ts";
import { type Exchange, type LoopbackOptions, LoopbackServer, type ProxyAccess } from "./server/loopback-server.ts";
import type { RefusedHost } from "./server/proxy-entrance.ts";
import { describeQuestion, type ModelRequest, type ReceivedRequest, summarise } from "./received-request.ts";
import { type Miss, RequestLog } from "./request-log.ts";
import type { Reply } from "./reply.ts";
import { ScriptPlayer, type Script } from "./script.ts";
import { answerSideRoute, defaultModels, type RehearsedModel } from "./server/side-routes.ts";

export interface RehearsalOptions extends LoopbackOptions {
  /** The listed models. */
  readonly models?: readonly RehearsedModel[];
  /** Chooses one of the offered tools for a name in the script. Default: the name as it is. */
  readonly offeredName?: (name: string, offered: readonly string[]) => string;
  /** Outcome of a token refresh. Default: `grant`. */
  readonly refresh?: RefreshOutcome;
  /** Subscription of the fake login's profile. Default: `max`. */
  readonly subscriptionType?: SubscriptionType;
}

export async function startRehearsal(script: Script = [], options: RehearsalOptions = {}): Promise<Rehearsal> {
  const rehearsal = new Rehearsal(script, options);
  await rehearsal.listen();
  return rehearsal;
}

/** A loopback stand-in for Anthropic's API that answers by its script and records requests. */
export class Rehearsal implements AsyncDisposable {
  readonly #server: LoopbackServer;
  readonly #options: RehearsalOptions;
  readonly #login = new LoginRoutes();
  readonly #log = new RequestLog();
  #player: ScriptPlayer;
  #refresh: RefreshOutcome;

  /** Use `startRehearsal`. */
  constructor(script: Script, options: RehearsalOptions) {
    this.#player = new ScriptPlayer(script);
    this.#options = options;
    this.#refresh = options.refresh ?? "grant";
    this.#server = new LoopbackServer(options, {
      exchange: (exchange) => this.#answer(exchange),
      settled: () => this.#log.changed(),
      refused: (refused) => this.#log.refused.push(refused),
    });
  }

  listen(): Promise<void> {
    return this.#server.listen();
  }

  /** The base URL: `ANTHROPIC_BASE_URL`, or `baseURL` of Anthropic's SDK. */
  get url(): string {
    return this.#server.url;
  }

  /** The `baseURL` of each AI SDK provider. */
  get providerUrls(): ProviderUrls {
    return providerUrls(this.url);
  }

  /** For callers that use the real host names. */
  get proxy(): ProxyAccess {
    return this.#server.proxy;
  }

  /** Hosts rejected by the proxy. */
  get refused(): readonly RefusedHost[] {
    return this.#log.refused;
  }

  /** All requests, in order. */
  get requests(): readonly ReceivedRequest[] {
    return this.#log.requests;
  }

  /** The model requests. */
  get modelRequests(): readonly ModelRequest[] {
    return this.#log.modelRequests;
  }

  /** The embedding requests, which need no script. */
  get embeddingRequests(): readonly ReceivedRequest[] {
    return this.#log.requests.filter(({ answeredBy }) => answeredBy === "embeddings");
  }

  /** Model requests without a matching reply. */
  get misses(): readonly Miss[] {
    return this.#log.misses;
  }

  /** Replies not used yet. */
  get unused(): readonly string[] {
    return this.#player.unused;
  }

  /** Replaces the script and clears the requests: one server for many tests. */
  use(script: Script, options: Pick<RehearsalOptions, "refresh"> = {}): void {
    this.#player = new ScriptPlayer(script);
    this.#refresh = options.refresh ?? this.#options.refresh ?? "grant";
    this.#log.forget();
  }

  /** Resolves with the first matching request, past or future; checked again whenever a request's state changes. */
  waitForRequest(
    predicate: (request: ReceivedRequest) => boolean = () => true,
    timeoutMs = 60_000,
  ): Promise<ReceivedRequest> {
    return this.#log.waitFor(() => this.#log.requests.find(predicate), timeoutMs);
  }

  waitForModelRequest(
    predicate: (request: ModelRequest) => boolean = () => true,
    timeoutMs = 60_000,
  ): Promise<ModelRequest> {
    return this.#log.waitFor(() => this.#log.modelRequests.find(predicate), timeoutMs);
  }

  /** Throws unless every request got a reply and every reply was used. */
  assertDone(): void {
    const problems = [
      ...this.#log.misses.map(({ message }) => message),
      ...this.#player.unused.map((entry) => `Never asked for: ${entry}.`),
    ];
    if (problems.length > 0) throw new Error(`The rehearsal did not go by its script.\n${problems.join("\n")}`);
  }

  /** Closes every connection at once, including stalled ones. */
  close(): Promise<void> {
    return this.#server.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #answer(exchange: Exchange): Promise<void> {
    this.#log.requests.push(exchange.request);
    const dialect = findDialect(exchange.request);
    if (dialect) await this.#answerModel(exchange, dialect);
    else this.#answerSide(exchange);
  }

  async #answerModel(exchange: Exchange, dialect: WireDialect): Promise<void> {
    const received = exchange.request;
    let request: ModelRequest;
    try {
      // The same object, so that both lists see later changes.
      request = Object.assign(received, describeQuestion(dialect.name, dialect.read(received)));
    } catch (error) {
      this.#miss(exchange, dialect, `The rehearsal cannot read ${summarise(received)}: ${explain(error)}`);
      return;
    }
    const prompter = this.#player;
    this.#log.modelRequests.push(request);
    this.#log.changed();
    const cue = await prompter.cue(request).catch((error: unknown) => ({
      // Not a server error: callers would retry.
      miss: `The script failed on ${summarise(received)}: ${explain(error)}`,
    }));
    if ("miss" in cue) {
      this.#miss(exchange, dialect, cue.miss);
      return;
    }
    received.answeredBy = cue.answeredBy;
    this.#log.changed();
    await deliver(this.#withOfferedNames(cue.reply, request), { ...exchange, dialect, request });
  }

  #withOfferedNames(reply: Reply, { toolNames }: ModelRequest): Reply {
    const { offeredName } = this.#options;
    if (!offeredName || reply.type !== "message") return reply;
    const content = reply.content.map((block) =>
      block.type === "tool_use" ? { ...block, name: offeredName(block.name, toolNames) } : block,
    );
    return { ...reply, content };
  }

  #miss(exchange: Exchange, dialect: WireDialect, message: string): void {
    exchange.request.answeredBy = "miss";
    this.#log.misses.push({ request: exchange.request, message });
    sendJson(exchange.response, 400, dialect.errorBody(400, "invalid_request_error", message));
  }

  #answerSide({ request, response }: Exchange): void {
    const { answeredBy, status, body } =
      this.#login.answer(request, this.#refresh, this.#options.subscriptionType ?? "max") ??
      answerSideRoute(request, this.#options.models ?? defaultModels);
    request.answeredBy = answeredBy;
    this.#log.changed();
    sendJson(response, status, body);
  }
}

function explain(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  return error instanceof Error ? error.message : String(error);
}

/** The `baseURL` of each AI SDK provider. */
export interface ProviderUrls {
  readonly anthropic: string;
  readonly vertex: string;
  readonly gateway: string;
}

export function providerUrls(url: string): ProviderUrls {
  return {
    anthropic: `${url}/v1`,
    vertex: `${url}/v1/projects/rehearsal/locations/global/publishers/anthropic/models`,
    gateway: `${url}/v4/ai`,
  };
}
