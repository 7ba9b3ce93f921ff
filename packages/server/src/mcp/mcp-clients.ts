import { randomUUID } from "node:crypto";
import type { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { RequestError } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import { hasScope } from "../http/access/authorize.ts";
import { contextOf } from "../http/context-of.ts";
import type { Logger } from "../http/create-logger.ts";
import { readJson } from "../http/request/read-body.ts";
import type { ServedContext } from "../served-context.ts";
import type { AuthenticatedRequest } from "../http/request/routed-request.ts";

/** A client without requests and streams for this long is dropped; if it is still alive, it initializes again. */
const IDLE_MS = 30 * 60_000;
const MAX_CLIENTS = 500;
const MAX_CLIENTS_PER_TOKEN = 100;
/** More than any tool call needs. */
const MAX_BODY_BYTES = 1_024 * 1_024;
/** Older clients send batches. */
const MAX_MESSAGES = 20;
export const MCP_HEADER = "mcp-session-id";

export interface McpClientsOptions {
  context: () => ServedContext | undefined;
  version: string;
  /** Whether a token is still valid. */
  isValid: (token: TokenRow) => Promise<boolean>;
  /** The interval of that check. */
  checkMs: number;
  logger: Logger;
}

interface Client {
  token: TokenRow;
  transport: WebStandardStreamableHTTPServerTransport;
  lastHeard: number;
  /** Streams and responses in progress. */
  open: number;
  close(): Promise<void>;
}

/**
 * MCP over HTTP, behind the server's guard and token check. Each client has its own server and transport and is
 * identified by its id and its token. Revoking the token drops its clients.
 */
export class McpClients {
  readonly #clients = new Map<string, Client>();
  readonly #parts: McpClientsOptions;
  readonly #timer: NodeJS.Timeout;

  constructor(parts: McpClientsOptions) {
    this.#parts = parts;
    this.#timer = setInterval(() => this.#look(), parts.checkMs).unref();
  }

  async handle(request: Request, { token, incoming, outgoing }: AuthenticatedRequest): Promise<Response> {
    const context = contextOf({ context: this.#parts.context() });
    const parsedBody = request.method === "POST" ? await readMessages(incoming) : undefined;
    const id = request.headers.get(MCP_HEADER);
    if (id === null) return this.#begin(request, parsedBody, { context, token });
    const client = this.#clients.get(id);
    // Answer 404 for another token's session, so that its id cannot be probed.
    if (client?.token.id !== token.id) {
      return rpcError(404, -32_001, "There is no such MCP session; begin a new one.");
    }
    client.lastHeard = performance.now();
    client.open += 1;
    outgoing.once("close", () => {
      client.open -= 1;
      client.lastHeard = performance.now();
    });
    return client.transport.handleRequest(request, { parsedBody });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    const clients = [...this.#clients.values()];
    this.#clients.clear();
    await Promise.allSettled(clients.map((client) => client.close()));
  }

  async #begin(
    request: Request,
    parsedBody: unknown,
    { context, token }: { context: ServedContext; token: TokenRow },
  ): Promise<Response> {
    if (this.#clients.size >= MAX_CLIENTS) this.#dropIdle();
    if (this.#clients.size >= MAX_CLIENTS) {
      throw new RequestError("unavailable", "Too many MCP clients are connected.", { fix: "Try again later." });
    }
    const { version, logger } = this.#parts;
    // Loaded with the first client: most servers have none.
    const { createMcpServer, Transport } = await import("./create-mcp-server.ts");
    const server = createMcpServer({
      tools: context.tools.filter(({ readOnly }) => readOnly || hasScope(token, "run")),
      version,
      by: token.name,
      onFailure: (tool, error) => logger.error({ err: error, tool }, "a tool failed unexpectedly"),
    });
    const transport = new Transport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => {
        const close = () => server.close();
        this.#clients.set(id, { token, transport, lastHeard: performance.now(), open: 0, close });
        this.#keepWithin(token);
      },
      onsessionclosed: (id) => void this.#clients.delete(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request, { parsedBody });
    // Without `initialize` the transport has no session and no later request can use it.
    if (transport.sessionId === undefined || !this.#clients.has(transport.sessionId)) await server.close();
    return response;
  }

  /** Bounds sessions per token: clients that never disconnect evict that token's oldest session. */
  #keepWithin({ id }: TokenRow): void {
    const own = [...this.#clients].filter(([, { token }]) => token.id === id);
    const surplus = own.length - MAX_CLIENTS_PER_TOKEN;
    if (surplus <= 0) return;
    for (const [key] of own.toSorted(([, a], [, b]) => a.lastHeard - b.lastHeard).slice(0, surplus)) this.#drop(key);
  }

  #look(): void {
    this.#dropIdle();
    this.#dropRevoked().catch(() => undefined);
  }

  #dropIdle(): void {
    const since = performance.now() - IDLE_MS;
    for (const [id, { lastHeard, open }] of this.#clients) if (open === 0 && lastHeard < since) this.#drop(id);
  }

  /** A database error does not prove that a token is invalid, so its clients stay. */
  async #dropRevoked(): Promise<void> {
    const tokens = new Map([...this.#clients.values()].map(({ token }) => [token.id, token]));
    for (const token of tokens.values()) {
      if (await this.#parts.isValid(token)) continue;
      for (const [id, client] of this.#clients) if (client.token.id === token.id) this.#drop(id);
    }
  }

  #drop(id: string): void {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    client?.close().catch((error: unknown) => this.#parts.logger.warn({ err: error }, "an MCP client did not close"));
  }
}

/** Applies the same limits as to every other body. */
async function readMessages(incoming: AuthenticatedRequest["incoming"]): Promise<unknown> {
  const body = await readJson(incoming, MAX_BODY_BYTES);
  if (body === undefined) throw new RequestError("invalid_request", "A message is expected as the body.");
  if (Array.isArray(body) && body.length > MAX_MESSAGES) {
    throw new RequestError("too_large", `${body.length} messages at once are too many; send ${MAX_MESSAGES} at most.`);
  }
  return body;
}

const rpcError = (status: number, code: number, message: string): Response =>
  new Response(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }), {
    status,
    headers: { "content-type": "application/json" },
  });
