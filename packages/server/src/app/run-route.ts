import { createHash } from "node:crypto";
import type { IncomingHttpHeaders, ServerResponse } from "node:http";
import { RequestError } from "@tandem/protocol";
import type { TokenStore } from "@tandem/storage";
import type { MessagesReply } from "@tandem/sessions";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { z } from "zod";
import type { Forwarder } from "../fleet/forwarder.ts";
import type { Logger } from "../http/create-logger.ts";
import { EncodedAnswer } from "../http/encoded-answer.ts";
import { ONLY_EXECUTION, type Execution, type RequestJournal } from "../http/idempotency/request-journal.ts";
import { describeIssues } from "../http/request/describe-issues.ts";
import type { FileMemoryLimit } from "../http/request/file-memory-limit.ts";
import { admitWorker } from "../http/access/worker-access.ts";
import { requireScopeForMode } from "../http/access/require-scope-for-mode.ts";
import { readBytes, readJson, wantType } from "../http/request/read-body.ts";
import { readQuery } from "../http/request/read-query.ts";
import { receiveUpload } from "../http/request/read-upload.ts";
import type {
  Call,
  Download,
  DownloadRoute,
  JsonRoute,
  PassedRoute,
  Route,
  StreamRoute,
  UploadRoute,
} from "../http/route.ts";
import type { RoutedRequest } from "../http/request/routed-request.ts";
import type { ServerSettings } from "../http/settings.ts";
import type { OpenStreams } from "../http/sse/open-streams.ts";
import type { SessionHubs } from "../http/sse/session-hubs.ts";
import type { TenantRuntime } from "../tenants/tenant-runtime.ts";
import type { TenantService } from "../tenants/tenant-service.ts";
import { WireError } from "../http/wire-error.ts";

/** Enough for an empty object. */
const NOTHING_BYTES = 1_024;

interface RouteDependencies extends Omit<TenantRuntime, "acp" | "fleet"> {
  /** The operator's only. */
  tenantService: TenantService | undefined;
  tokens: TokenStore;
  settings: ServerSettings;
  hubs: SessionHubs;
  streams: OpenStreams;
  fileMemory: FileMemoryLimit;
  logger: Logger;
  /** Undefined if nothing is stored: then every request is handled. */
  journal?: RequestJournal | undefined;
  /** Set in a fleet. */
  forwarder?: Forwarder | undefined;
}

/** Validates a request against its route, calls the handler and responds. Throws errors. */
export class RouteRunner {
  readonly #dependencies: RouteDependencies;

  constructor(dependencies: RouteDependencies) {
    this.#dependencies = dependencies;
  }

  /** Runs the request here, or forwards it to another process of the fleet. */
  async run(route: Route, request: RoutedRequest): Promise<Response> {
    const { params, token } = request;
    checkParams(params);
    const { worker } = token;
    if (worker) await admitWorker({ worker, token: token.id, route: route.name, params }, this.#dependencies.engine);
    if (!this.#dependencies.forwarder) return this.#run(route, request);
    return this.#dependencies.forwarder.run(route, request, (known) => this.#run(route, known));
  }

  async #run(route: Route, request: RoutedRequest): Promise<Response> {
    const gone = new AbortController();
    request.outgoing.once("close", () => gone.abort());
    // The connection may be silent until the handler times out.
    const { longTimeoutMs, silenceTimeoutMs } = this.#dependencies.settings;
    if (route.longRunning) request.incoming.setTimeout(longTimeoutMs + silenceTimeoutMs);
    const { engine, context, setup, health, tenant, readUsage, tenantService, tokens } = this.#dependencies;
    const call: Call = {
      engine,
      context: context?.(),
      setup,
      health,
      tenant,
      readUsage,
      tenantService,
      tokens,
      token: request.token,
      params: request.params,
      query: readQuery(request.search, route.query),
      body: undefined,
      header: (name) => {
        const value = request.incoming.headers[name];
        return Array.isArray(value) ? value.join(", ") : value;
      },
      ...ONLY_EXECUTION,
      signal: gone.signal,
    };
    switch (route.kind) {
      case "json":
        return this.#answer(route, await this.#json(route, call, request));
      case "upload":
        return this.#answer(route, await this.#upload(route, call, request));
      case "download":
        return this.#download(route, call, request);
      case "stream":
        return this.#stream(route, call, request);
      case "passed":
        return this.#passed(route, call, request);
    }
  }

  async #json(route: JsonRoute, call: Call, request: RoutedRequest): Promise<unknown> {
    const { incoming, body: read } = request;
    const raw = await readJson(incoming, route.body ? this.#dependencies.settings.maxJsonBytes : NOTHING_BYTES, read);
    if (!route.body && !isNothing(raw)) throw new RequestError("invalid_request", "This takes no body.");
    const body = route.body && parse(route.body, raw);
    if (route.scope === "run") requireScopeForMode(call.token, body);
    const digest = sha256(JSON.stringify(raw ?? {}));
    const known = (execution: Execution): Call => ({ ...call, ...execution, body });
    return this.#once(route, request, digest, known, (given) => route.handle(given));
  }

  #upload(route: UploadRoute, call: Call, request: RoutedRequest): Promise<unknown> {
    const { fileMemory, settings } = this.#dependencies;
    const limits = { fileMemory, limit: settings.maxUploadBytes, many: route.many };
    return receiveUpload(request.incoming, limits, ({ fields, uploads }) => {
      const body = parse(route.body, fields);
      // The parts, because a retry has another boundary.
      const parts = uploads.map(({ filename, mimeType, content }) => [filename, mimeType, sha256(content)]);
      const digest = sha256(JSON.stringify([fields, parts]));
      const known = (execution: Execution) => ({ ...call, ...execution, body, upload: uploads[0]!, uploads });
      return this.#once(route, request, digest, known, (given) => route.handle(given));
    });
  }

  /** Handles the request, unless it repeats one that was handled. */
  #once<C extends Call>(
    route: JsonRoute | UploadRoute,
    { incoming, outgoing, token, begun }: RoutedRequest,
    body: string,
    callOf: (execution: Execution) => C,
    handle: (call: C) => Promise<unknown>,
  ): Promise<unknown> {
    const { journal } = this.#dependencies;
    const execute = async (execution: Execution): Promise<unknown> => {
      const call = callOf(execution);
      return (execution.isResumed && route.find && (await ifFound(route.find(call)))) || handle(call);
    };
    if (!journal || route.method !== "POST") return this.#inTime(route, execute(ONLY_EXECUTION));
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const request = {
      token: token.id,
      address: `${route.method} ${incoming.url}`,
      body,
      waitedMs: performance.now() - begun,
      signal: gone.signal,
      onClosed: (report: (isLost: boolean) => void) => {
        if (gone.signal.aborted) report(!outgoing.writableFinished);
        else outgoing.once("close", () => report(!outgoing.writableFinished));
      },
      ...retryOf(incoming.headers),
    };
    const options = { isSecret: route.secretAnswer === true, isRepeatable: route.isRepeatable === true };
    return this.#inTime(route, journal.run(request, execute, options));
  }

  async #download(route: DownloadRoute, call: Call, { outgoing }: RoutedRequest): Promise<Response> {
    const file = await this.#inTime(route, route.handle(call));
    // Hold the reservation until the file is sent: a slow client may not read it for long.
    outgoing.once("close", this.#dependencies.fileMemory.reserve(file.size));
    return attachment(file, await this.#inTime(route, file.read()));
  }

  /** Responds as soon as the stream is open. */
  async #stream(route: StreamRoute, call: Call, { outgoing, token }: RoutedRequest): Promise<Response> {
    const opened = Promise.withResolvers<void>();
    const open = () => {
      const stream = this.#dependencies.streams.open(outgoing, token);
      opened.resolve();
      return stream;
    };
    const handled = route.handle(call, { hubs: this.#dependencies.hubs, open });
    handled.catch((error: unknown) => {
      if (outgoing.headersSent) this.#dependencies.logger.warn({ err: error, route: route.name }, "a stream broke off");
    });
    await this.#inTime(route, Promise.race([opened.promise, handled]));
    return RESPONSE_ALREADY_SENT;
  }

  /** The handler has its own deadlines. */
  async #passed(route: PassedRoute, call: Call, { incoming, outgoing, body: read }: RoutedRequest): Promise<Response> {
    wantType(incoming, "application/json");
    const limit = this.#dependencies.settings.maxJsonBytes;
    const bytes = read ?? (await readBytes(incoming, limit));
    const body = parse(route.body, await readJson(incoming, limit, bytes));
    try {
      await route.handle({ ...call, body, bytes, reply: passAnswer(outgoing) });
      outgoing.end();
    } catch (error) {
      if (!outgoing.headersSent) throw error;
      if (!call.signal.aborted) {
        this.#dependencies.logger.warn({ err: error, route: route.name }, "an answer broke off");
      }
      // The client must not take a part for the whole.
      outgoing.destroy();
    }
    return RESPONSE_ALREADY_SENT;
  }

  #answer(route: JsonRoute | UploadRoute, result: unknown): Response {
    const json = result instanceof EncodedAnswer ? result.json : JSON.stringify(result);
    if (this.#dependencies.settings.checkResponses) {
      route.response.parse(result instanceof EncodedAnswer ? JSON.parse(json) : result);
    }
    // As bytes: a Response copies a string three times, which for a long log takes as long as reading it.
    return new Response(Buffer.from(json), { headers: { "content-type": "application/json" } });
  }

  async #inTime<T>({ name, method, longRunning }: Route, work: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => {
        // The handler may still be running, so a retry could repeat its effect.
        const headers: Record<string, string> = method === "GET" ? {} : { "x-should-retry": "false" };
        reject(new WireError("timeout", `${name} has taken too long.`, { headers }));
      },
      this.#dependencies.settings[longRunning ? "longTimeoutMs" : "handlerTimeoutMs"],
    );
    try {
      return await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function sha256(...parts: (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
}

async function ifFound(result: Promise<unknown>): Promise<unknown> {
  try {
    return await result;
  } catch (error) {
    if (error instanceof RequestError && error.code === "not_found") return undefined;
    throw error;
  }
}

/** How a client marks a retry. */
function retryOf(headers: IncomingHttpHeaders) {
  const { "idempotency-key": key, "x-stainless-retry-count": count, "x-stainless-timeout": seconds } = headers;
  if (key !== undefined && (typeof key !== "string" || !/^[\x21-\x7e]{1,255}$/.test(key))) {
    throw new RequestError("invalid_request", "Idempotency-Key: expected 1 to 255 visible ASCII characters.");
  }
  const tryNumber = typeof count === "string" && /^\d{1,3}$/.test(count) ? Number(count) : undefined;
  return { key, tryNumber, timeoutMs: typeof seconds === "string" ? (Number(seconds) || 0) * 1_000 : undefined };
}

/** No id is longer or contains slashes or control characters. */
function checkParams(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (/^[^\p{C}/\\]{1,200}$/u.test(value)) continue;
    throw new RequestError("not_found", `There is no such ${name.replace(/_id$/, "")}.`);
  }
}

/** Some clients send an empty object instead of no body. */
const isNothing = (body: unknown): boolean =>
  body === undefined || (typeof body === "object" && body !== null && Object.keys(body).length === 0);

function parse<T extends z.ZodType>(schema: T, raw: unknown): z.output<T> {
  const result = schema.safeParse(raw === undefined ? {} : raw);
  if (result.success) return result.data;
  const known = "shape" in schema && typeof schema.shape === "object" ? Object.keys(schema.shape ?? {}) : [];
  throw new RequestError("invalid_request", describeIssues(result.error.issues, { noun: "field", known }));
}

/** Sends an attachment that no browser renders as a page, whatever was uploaded. */
function attachment({ filename, mimeType }: Download, content: Uint8Array): Response {
  return new Response(Buffer.from(content.buffer as ArrayBuffer, content.byteOffset, content.byteLength), {
    headers: {
      "content-type": /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : "application/octet-stream",
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename.toWellFormed())}`,
      "content-security-policy": "sandbox; default-src 'none'",
    },
  });
}

/** Writes an answer as it arrives, no faster than the client reads. */
function passAnswer(outgoing: ServerResponse): MessagesReply {
  return {
    head: (status, headers) => {
      outgoing.writeHead(status, { ...headers });
      outgoing.flushHeaders();
    },
    write: async (chunk) => {
      if (outgoing.destroyed || outgoing.write(chunk)) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      outgoing.once("drain", resolve).once("close", resolve);
      await promise;
      outgoing.off("drain", resolve).off("close", resolve);
    },
  };
}
