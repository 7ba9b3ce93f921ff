import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { RequestError } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import type { WebSocketServer } from "ws";
import { z } from "zod";
import type { Logger } from "../../http/create-logger.ts";
import { readJson } from "../../http/request/read-body.ts";
import type { OpenStreams } from "../../http/sse/open-streams.ts";
import { WireError } from "../../http/wire-error.ts";
import type { AcpLimits } from "../../http/acp-limits.ts";
import { HttpConnection } from "./http-connection.ts";
import { readLastEventId } from "./replay-stream.ts";
import { readMessage, rpcError } from "./rpc-message.ts";
import { SocketConnection } from "./socket-connection.ts";
import { within } from "./within.ts";
import type { ConnectAgent, WantedAgent } from "../../tenants/connect-agent.ts";
import type { AuthenticatedRequest } from "../../http/request/routed-request.ts";

/** Limits how long a stopping server waits for an agent to close. */
const CLOSE_MS = 5_000;
export const CONNECTION_HEADER = "acp-connection-id";
/** Some clients send this name. */
const CONNECTION_ALIAS = "x-acp-connection-id";
const SESSION_HEADER = "acp-session-id";

interface AcpEndpointOptions {
  connect: ConnectAgent;
  /** Whether the session exists; streams of unknown sessions are refused. */
  hasSession: (id: string) => Promise<boolean>;
  /** Whether a token is still valid. */
  isValid: (token: TokenRow) => Promise<boolean>;
  streams: OpenStreams;
  limits: AcpLimits;
  maxBodyBytes: number;
  heartbeatMs: number;
  logger: Logger;
}

/**
 * ACP for remote editors: Streamable HTTP and WebSocket at one path, behind the server's guard and token check. A
 * connection is identified by its id and its token; revoking the token closes it. Sessions belong to the server and
 * survive their connection.
 */
export class AcpEndpoint {
  readonly #parts: AcpEndpointOptions;
  readonly #byHttp = new Map<string, HttpConnection>();
  readonly #bySocket = new Set<SocketConnection>();
  #sockets: WebSocketServer | undefined;
  readonly #timer: NodeJS.Timeout;

  constructor(parts: AcpEndpointOptions) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#look(), parts.heartbeatMs).unref();
  }

  /** The number of connections. */
  get size(): number {
    return this.#byHttp.size + this.#bySocket.size;
  }

  async handle(method: string, request: AuthenticatedRequest): Promise<Response> {
    if (method === "POST") return this.#post(request);
    const connection = this.#find(request);
    if (method === "GET") return this.#listen(connection, request);
    this.#byHttp.delete(connection.id);
    await connection.close("the connection has been closed");
    return new Response(null, { status: 202 });
  }

  /** Takes a WebSocket after the request has passed all checks. */
  async upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer, token: TokenRow): Promise<void> {
    // Loaded with the first editor. No await after `#makeRoom`: two clients could take the same room.
    const { WebSocketServer } = await import("ws");
    const { maxBodyBytes: maxPayload } = this.#parts;
    const sockets = (this.#sockets ??= new WebSocketServer({ noServer: true, maxPayload, clientTracking: false }));
    this.#makeRoom(token);
    const id = randomUUID();
    const announce = (headers: string[], request: IncomingMessage): void => {
      if (request === incoming) headers.push(`Acp-Connection-Id: ${id}`);
    };
    sockets.on("headers", announce);
    const { limits, connect, isValid } = this.#parts;
    const agent = connect(token, wantedAgent(incoming));
    sockets.handleUpgrade(incoming, socket, head, (webSocket) => {
      const connection = new SocketConnection({ socket: webSocket, token, isValid, agent, limits });
      this.#bySocket.add(connection);
      void connection.closed.then(() => this.#bySocket.delete(connection));
    });
    sockets.off("headers", announce);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const connections = [...this.#byHttp.values(), ...this.#bySocket];
    this.#byHttp.clear();
    this.#bySocket.clear();
    const closing = Promise.allSettled(connections.map((connection) => connection.close("the server is stopping")));
    await within(closing, CLOSE_MS);
  }

  async #post({ incoming, token }: AuthenticatedRequest): Promise<Response> {
    const body = await readJson(incoming, this.#parts.maxBodyBytes);
    if (Array.isArray(body)) return reply(501, rpcError({ code: -32_600, message: "Batches are not supported." }));
    const message = readMessage(body);
    if (!message) return reply(400, rpcError({ code: -32_600, message: "This is not a message of JSON-RPC." }));
    const isBeginning = "method" in message && message.method === "initialize";
    if (!isBeginning) {
      this.#find({ incoming, token }).receive(message, header(incoming, SESSION_HEADER));
      return new Response(null, { status: 202 });
    }
    if (connectionIdOf(incoming) !== undefined) {
      throw new RequestError("invalid_request", "A connection is initialized once.", {
        fix: "Send `initialize` without Acp-Connection-Id for a new one.",
      });
    }
    this.#makeRoom(token);
    const { limits, connect } = this.#parts;
    const agent = connect(token, wantedAgent(incoming));
    const connection = new HttpConnection({ id: randomUUID(), token, agent, limits });
    this.#byHttp.set(connection.id, connection);
    void connection.closed.then(() => this.#byHttp.delete(connection.id));
    try {
      return reply(200, await connection.initialize(message), { "acp-connection-id": connection.id });
    } catch (error) {
      this.#drop(connection, "it was not initialized");
      throw error;
    }
  }

  async #listen(connection: HttpConnection, { incoming, outgoing, token }: AuthenticatedRequest): Promise<Response> {
    if (!/text\/event-stream|\*\/\*/i.test(incoming.headers.accept ?? "")) {
      return new Response(null, { status: 406 });
    }
    const session = header(incoming, SESSION_HEADER);
    const last = readLastEventId(header(incoming, "last-event-id"), connection.newest);
    if (session !== undefined && !connection.knows(session) && !(await this.#parts.hasSession(session))) {
      throw new RequestError("not_found", "There is no such session.");
    }
    // Throws if the connection ended meanwhile.
    this.#find({ incoming, token });
    connection.listen(this.#parts.streams.open(outgoing, token), session, last);
    return RESPONSE_ALREADY_SENT;
  }

  #find({ incoming, token }: Pick<AuthenticatedRequest, "incoming" | "token">): HttpConnection {
    const id = connectionIdOf(incoming);
    if (id === undefined) {
      throw new RequestError("invalid_request", "Acp-Connection-Id: this header is needed.", {
        fix: "Begin with `initialize`; its answer has the id.",
      });
    }
    const connection = this.#byHttp.get(id);
    // Answer 404 for another token's connection, so that its id cannot be probed.
    if (connection?.token.id !== token.id) {
      throw new RequestError("not_found", "There is no such connection.", {
        fix: "Begin a new one with `initialize`.",
      });
    }
    return connection;
  }

  /** An idle connection is evicted for a new one; an active one is not. */
  #makeRoom(token: TokenRow): void {
    const { limits } = this.#parts;
    const own = [...this.#byHttp.values(), ...this.#bySocket].filter((other) => other.token.id === token.id);
    const isFull = this.size >= limits.maxConnections || own.length >= limits.maxConnectionsPerToken;
    if (!isFull) return;
    const now = performance.now();
    const [spare] = own
      .filter((connection) => connection instanceof HttpConnection)
      .filter((connection) => connection.idleMs(now) > 0)
      .toSorted((a, b) => b.idleMs(now) - a.idleMs(now));
    if (!spare) {
      throw new WireError("too_many", "Too many connections are open.", { fix: "Close some of them." });
    }
    this.#drop(spare, "a new connection took its place");
  }

  #look(): void {
    const now = performance.now();
    for (const connection of this.#bySocket) connection.beat();
    for (const connection of this.#byHttp.values()) {
      if (connection.idleMs(now) > this.#parts.limits.idleMs) this.#drop(connection, "it was idle");
    }
    this.#dropRevoked().catch(() => undefined);
  }

  /** A database error does not prove that a token is invalid, so its connections stay. */
  async #dropRevoked(): Promise<void> {
    const all = [...this.#byHttp.values(), ...this.#bySocket];
    const tokens = new Map(all.map(({ token }) => [token.id, token]));
    for (const token of tokens.values()) {
      if (await this.#parts.isValid(token)) continue;
      for (const connection of all) {
        if (connection.token.id === token.id) this.#drop(connection, "the token is not valid any more");
      }
    }
  }

  #drop(connection: HttpConnection | SocketConnection, reason: string): void {
    if (connection instanceof HttpConnection) this.#byHttp.delete(connection.id);
    connection.close(reason).catch((error: unknown) => {
      this.#parts.logger.warn({ err: error }, "a connection of an editor did not close");
    });
  }
}

const addressQuery = z.strictObject({
  agent: z.string().min(1).max(200).optional(),
  /** Asked for the draft of version 2 in the first release. Accepted and ignored: the client is answered with version 1. */
  v2: z.enum(["true", "false"]).optional(),
});

/** Refuses unknown parameters: a client must not assume that they took effect. */
function wantedAgent({ url = "" }: IncomingMessage): WantedAgent {
  const { success, data } = addressQuery.safeParse(Object.fromEntries(new URLSearchParams(url.split("?", 2)[1])));
  if (!success) throw new RequestError("invalid_request", "The address takes `agent`, and nothing else.");
  return data.agent === undefined ? {} : { agent: data.agent };
}

const connectionIdOf = (incoming: IncomingMessage): string | undefined =>
  header(incoming, CONNECTION_HEADER) ?? header(incoming, CONNECTION_ALIAS);

function header({ headers }: IncomingMessage, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" && value !== "" ? value : undefined;
}

const reply = (status: number, body: unknown, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } });
