import type { HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { RequestError } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { TokenRow, TokenStore } from "@tandem/storage";
import type { z } from "zod";
import type { Caretaker } from "../caretaker.ts";
import type { Forwarder } from "../fleet/forwarder.ts";
import type { ServedContext } from "../served-context.ts";
import type { Logger } from "./create-logger.ts";
import { describeIssues } from "./describe-issues.ts";
import type { FileRoom } from "./file-room.ts";
import { readJson } from "./read-body.ts";
import { readQuery } from "./read-query.ts";
import { receiveUpload } from "./read-upload.ts";
import type { Call, Download, DownloadRoute, JsonRoute, Route, StreamRoute, UploadRoute } from "./route.ts";
import type { ServerSettings } from "./settings.ts";
import type { OpenStreams } from "./sse/open-streams.ts";
import type { SessionHubs } from "./sse/session-hubs.ts";
import type { Realm } from "../tenants/realm.ts";
import type { TenantOffice, TenantStanding } from "../tenants/tenant-office.ts";
import { WireError } from "./wire-error.ts";

/** For an empty object, where there is nothing to say. */
const NOTHING_BYTES = 1_024;

export interface Arrival extends Pick<HttpBindings, "incoming" | "outgoing"> {
  token: TokenRow;
  params: Record<string, string>;
  search: URLSearchParams;
  /** Where it has been read already, to see where the request belongs. */
  body?: Buffer;
}

/** Checks a request against its route, has it handled, and answers. What is refused is thrown. */
export class RouteRunner {
  readonly #engine: Engine;
  readonly #context: ServedContext | undefined;
  readonly #caretaker: Caretaker | undefined;
  readonly #tenant: Realm["tenant"];
  readonly #standing: TenantStanding | undefined;
  readonly #office: TenantOffice | undefined;
  readonly #tokens: TokenStore;
  readonly #settings: ServerSettings;
  readonly #hubs: SessionHubs;
  readonly #streams: OpenStreams;
  readonly #room: FileRoom;
  readonly #logger: Logger;
  readonly #forwarder: Forwarder | undefined;

  constructor(parts: {
    engine: Engine;
    context: ServedContext | undefined;
    caretaker: Caretaker | undefined;
    tenant: Realm["tenant"];
    standing: TenantStanding | undefined;
    /** The operator's alone. */
    office: TenantOffice | undefined;
    tokens: TokenStore;
    settings: ServerSettings;
    hubs: SessionHubs;
    streams: OpenStreams;
    room: FileRoom;
    logger: Logger;
    /** In a fleet. */
    forwarder?: Forwarder | undefined;
  }) {
    this.#engine = parts.engine;
    this.#context = parts.context;
    this.#caretaker = parts.caretaker;
    this.#tenant = parts.tenant;
    this.#standing = parts.standing;
    this.#office = parts.office;
    this.#tokens = parts.tokens;
    this.#settings = parts.settings;
    this.#hubs = parts.hubs;
    this.#streams = parts.streams;
    this.#room = parts.room;
    this.#logger = parts.logger;
    this.#forwarder = parts.forwarder;
  }

  /** Where it belongs: here, unless it must be done by another process of the fleet. */
  async run(route: Route, arrival: Arrival): Promise<Response> {
    checkParams(arrival.params);
    if (!this.#forwarder) return this.#run(route, arrival);
    return this.#forwarder.run(route, arrival, (known) => this.#run(route, known));
  }

  async #run(route: Route, arrival: Arrival): Promise<Response> {
    const gone = new AbortController();
    arrival.outgoing.once("close", () => gone.abort());
    // Until then, the connection may be silent.
    if (route.patient) arrival.incoming.setTimeout(this.#settings.patientTimeoutMs + this.#settings.silenceTimeoutMs);
    const call: Call = {
      engine: this.#engine,
      context: this.#context,
      caretaker: this.#caretaker,
      tenant: this.#tenant,
      standing: this.#standing,
      office: this.#office,
      tokens: this.#tokens,
      token: arrival.token,
      params: arrival.params,
      query: readQuery(arrival.search, route.query),
      body: undefined,
      header: (name) => {
        const value = arrival.incoming.headers[name];
        return Array.isArray(value) ? value.join(", ") : value;
      },
      signal: gone.signal,
      askOthers: async (path) => (await this.#forwarder?.ask(arrival, path)) ?? [],
    };
    switch (route.kind) {
      case "json":
        return this.#answer(route, await this.#json(route, call, arrival));
      case "upload":
        return this.#answer(route, await this.#upload(route, call, arrival));
      case "download":
        return this.#download(route, call, arrival);
      case "stream":
        return this.#stream(route, call, arrival);
    }
  }

  async #json(route: JsonRoute, call: Call, { incoming, body: read }: Arrival): Promise<unknown> {
    const raw = await readJson(incoming, route.body ? this.#settings.maxJsonBytes : NOTHING_BYTES, read);
    if (!route.body && !isNothing(raw)) throw new RequestError("invalid_request", "This takes no body.");
    const body = route.body && parse(route.body, raw);
    return this.#inTime(route, route.handle({ ...call, body }));
  }

  #upload(route: UploadRoute, call: Call, { incoming }: Arrival): Promise<unknown> {
    const limits = { room: this.#room, limit: this.#settings.maxUploadBytes };
    return receiveUpload(incoming, limits, ({ fields, upload }) =>
      this.#inTime(route, route.handle({ ...call, body: parse(route.body, fields), upload })),
    );
  }

  async #download(route: DownloadRoute, call: Call, { outgoing }: Arrival): Promise<Response> {
    const file = await this.#inTime(route, route.handle(call));
    // Until it has been sent: a client may take its time, or never read at all.
    outgoing.once("close", this.#room.take(file.size));
    return attachment(file, await this.#inTime(route, file.read()));
  }

  /** Answers as soon as the stream is open; what the stream then does is its own affair. */
  async #stream(route: StreamRoute, call: Call, { outgoing, token }: Arrival): Promise<Response> {
    const opened = Promise.withResolvers<void>();
    const open = () => {
      const stream = this.#streams.open(outgoing, token);
      opened.resolve();
      return stream;
    };
    const handled = route.handle(call, { hubs: this.#hubs, open });
    handled.catch((error: unknown) => {
      if (outgoing.headersSent) this.#logger.warn({ err: error, route: route.name }, "a stream broke off");
    });
    await this.#inTime(route, Promise.race([opened.promise, handled]));
    return RESPONSE_ALREADY_SENT;
  }

  #answer(route: JsonRoute | UploadRoute, result: unknown): Response {
    if (this.#settings.checkResponses) route.response.parse(result);
    // As bytes: of a string, a Response makes three copies, and of a long log that takes as long as reading it.
    return new Response(Buffer.from(JSON.stringify(result)), { headers: { "content-type": "application/json" } });
  }

  async #inTime<T>({ name, method, patient }: Route, work: Promise<T>): Promise<T> {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => {
        // What may still be under way must not be begun a second time.
        const headers: Record<string, string> = method === "GET" ? {} : { "x-should-retry": "false" };
        reject(new WireError("timeout", `${name} has taken too long.`, { headers }));
      },
      this.#settings[patient ? "patientTimeoutMs" : "handlerTimeoutMs"],
    );
    try {
      return await Promise.race([work, promise]);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** Nothing that could be an id is longer, and none has slashes or unprintable characters. */
function checkParams(params: Record<string, string>): void {
  for (const [name, value] of Object.entries(params)) {
    if (/^[^\p{C}/\\]{1,200}$/u.test(value)) continue;
    throw new RequestError("not_found", `There is no such ${name.replace(/_id$/, "")}.`);
  }
}

/** Clients of some languages send an empty object where there is nothing to say. */
const isNothing = (body: unknown): boolean =>
  body === undefined || (typeof body === "object" && body !== null && Object.keys(body).length === 0);

function parse<T extends z.ZodType>(schema: T, raw: unknown): z.output<T> {
  const result = schema.safeParse(raw === undefined ? {} : raw);
  if (result.success) return result.data;
  const known = "shape" in schema && typeof schema.shape === "object" ? Object.keys(schema.shape ?? {}) : [];
  throw new RequestError("invalid_request", describeIssues(result.error.issues, { noun: "field", known }));
}

/** As an attachment that no browser takes for a page, whatever somebody has uploaded. */
function attachment({ filename, mimeType }: Download, content: Uint8Array): Response {
  return new Response(Buffer.from(content.buffer as ArrayBuffer, content.byteOffset, content.byteLength), {
    headers: {
      "content-type": /^[\w.+-]+\/[\w.+-]+$/.test(mimeType) ? mimeType : "application/octet-stream",
      "content-disposition": `attachment; filename*=UTF-8''${encodeURIComponent(filename.toWellFormed())}`,
      "content-security-policy": "sandbox; default-src 'none'",
    },
  });
}
