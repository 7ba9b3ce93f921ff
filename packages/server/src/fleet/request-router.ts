import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Duplex } from "node:stream";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { RequestError } from "@tandem/protocol";
import { fits, takesWork } from "@tandem/sessions";
import type { Logger } from "../http/create-logger.ts";
import { hasBody, readBytes } from "../http/request/read-body.ts";
import { forwardRequest, KEEP_ALIVE_MS, passedHeaders, PassOnFailed, relay } from "./forward-request.ts";
import { FORWARDED_HEADER } from "../http/request/forwarded-id.ts";
import { isReachable, type Peer, type Roster } from "./roster.ts";

const BEGIN_MS = 30_000;
/** Longer than two pings of a worker. */
const SILENCE_MS = 40_000;
const MAX_BODY_BYTES = 32 * 1024 * 1024;
/** Limits memory; an evicted connection is looked up again with its next request. */
const MAX_KNOWN_CONNECTIONS = 10_000;

/**
 * Routes connections of clients that span many requests and share an id, on a server that runs no sessions itself. Each
 * connection belongs to one worker, to which all its requests are forwarded.
 */
export class RequestRouter {
  readonly #parts: { roster: Roster; tenant: string; idHeader: string; logger: Logger };
  /** The worker of each connection. */
  readonly #known = new Map<string, string>();
  readonly #sockets = new Set<Duplex>();

  constructor(parts: { roster: Roster; tenant: string; idHeader: string; logger: Logger }) {
    this.#parts = parts;
  }

  async handle({ incoming, outgoing }: { incoming: IncomingMessage; outgoing: ServerResponse }): Promise<Response> {
    const { idHeader, logger } = this.#parts;
    const body = hasBody(incoming) ? await readBytes(incoming, MAX_BODY_BYTES) : undefined;
    const gone = new AbortController();
    outgoing.once("close", () => gone.abort());
    const request = {
      method: incoming.method ?? "GET",
      url: incoming.url ?? "/",
      headers: incoming.headers,
      body,
      remote: incoming.socket.remoteAddress,
      id: String(outgoing.getHeader("request-id")),
    };
    const workers = await this.#workersFor(idOf(incoming, idHeader));
    for (const [index, peer] of workers.entries()) {
      try {
        const answer = await forwardRequest(peer, request, { signal: gone.signal, deadlineMs: BEGIN_MS });
        // Another server may have opened the connection, so ask each worker in turn.
        if (answer.statusCode === 404 && index < workers.length - 1) {
          answer.resume();
          continue;
        }
        this.#remember(idOf(answer, idHeader) ?? idOf(incoming, idHeader), peer);
        await relay(answer, outgoing);
        return RESPONSE_ALREADY_SENT;
      } catch (error) {
        if (!(error instanceof PassOnFailed)) throw error;
        logger.warn({ err: error.cause, worker: peer.holder }, "a worker did not answer");
        if (error.mayHaveArrived && request.method !== "GET") throw brokenOff(peer);
      }
    }
    throw noWorker();
  }

  /** Forwards a WebSocket after all checks; resolves when the worker has accepted it. */
  async upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer, id: string): Promise<void> {
    const [peer] = await this.#workersFor(undefined);
    if (!peer) throw noWorker();
    const target = new URL(incoming.url ?? "/", peer.address);
    const request = (target.protocol === "https:" ? httpsRequest : httpRequest)(target, {
      agent: false,
      headers: {
        ...passedHeaders(incoming.headers),
        connection: "Upgrade",
        upgrade: "websocket",
        [FORWARDED_HEADER]: id,
      },
      timeout: BEGIN_MS,
    });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    request.on("timeout", () => request.destroy(new Error("The worker does not answer.")));
    request.on("error", (cause) => reject(Object.assign(noWorker(), { cause })));
    request.on("response", (answer) => {
      answer.resume();
      reject(
        new RequestError(
          "unavailable",
          `The worker ${peer.holder} did not take the connection (${answer.statusCode}).`,
        ),
      );
    });
    request.on("upgrade", (answer, upstream, upstreamHead) => {
      const lines = answer.rawHeaders.flatMap((name, index, all) =>
        index % 2 === 0 ? [`${name}: ${all[index + 1]}`] : [],
      );
      socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join("\r\n")}\r\n\r\n`);
      upstream.write(head);
      socket.write(upstreamHead);
      upstream.setKeepAlive(true, KEEP_ALIVE_MS);
      // The worker sends a ping every 15 s. With unacknowledged messages of the client, the kernel sends no probes.
      upstream.setTimeout(SILENCE_MS, () => upstream.destroy());
      upstream.on("error", () => socket.destroy()).on("close", () => socket.destroy());
      socket.on("error", () => upstream.destroy()).on("close", () => upstream.destroy());
      upstream.pipe(socket).pipe(upstream);
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
      resolve();
    });
    request.end();
    await promise;
  }

  /** A stopping server closes forwarded sockets at once; their clients reconnect to another server. */
  close(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The worker of the connection if known, else every candidate; for a new connection, by free capacity. */
  async #workersFor(id: string | undefined): Promise<Peer[]> {
    const { roster, tenant } = this.#parts;
    const rows = (await roster.living()).filter(isReachable).filter((row) => fits(row, null, tenant));
    const byRoom = rows.toSorted((a, b) => b.maxSessions - b.sessions - (a.maxSessions - a.sessions));
    if (id === undefined) return byRoom.filter(takesWork);
    const known = byRoom.filter(({ holder }) => holder === this.#known.get(id));
    return known.length > 0 ? known : byRoom;
  }

  #remember(id: string | undefined, { holder }: Peer): void {
    if (id === undefined) return;
    this.#known.delete(id);
    this.#known.set(id, holder);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_KNOWN_CONNECTIONS && oldest !== undefined) this.#known.delete(oldest);
  }
}

function idOf({ headers }: IncomingMessage, name: string): string | undefined {
  const id = headers[name] ?? headers[`x-${name}`];
  return typeof id === "string" && id !== "" ? id : undefined;
}

const noWorker = (): RequestError =>
  new RequestError("unavailable", "No running worker can take this connection.", {
    fix: "Start one with `tandem up --as worker`, or wait until one is back.",
  });

const brokenOff = ({ holder, machine }: Peer): RequestError =>
  new RequestError("unavailable", `The worker ${holder} on ${machine} broke off in the middle of this.`);
