import { randomUUID } from "node:crypto";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import type { ContextTool } from "@tandem/context";
import { RequestError } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import { createMcpServer } from "./create-mcp-server.ts";

/** A client that has said nothing for so long has gone; one that has not begins anew when it is told so. */
const IDLE_MS = 30 * 60_000;
const MOST_CLIENTS = 500;
const MOST_OF_ONE_TOKEN = 100;
const HEADER = "mcp-session-id";

export interface McpParts {
  /** What a token's owner may use. */
  tools: (token: TokenRow) => readonly ContextTool[];
  version: string;
  onFailure: (tool: string, error: unknown) => void;
  maxBodyBytes: number;
}

interface Client {
  token: string;
  transport: WebStandardStreamableHTTPServerTransport;
  lastHeard: number;
  close(): Promise<void>;
}

/** MCP over HTTP. Each client has a server and a transport of its own, and is known by its id together with its token. */
export class McpClients {
  readonly #clients = new Map<string, Client>();
  readonly #parts: McpParts;
  readonly #sweep: NodeJS.Timeout;

  constructor(parts: McpParts) {
    this.#parts = parts;
    this.#sweep = setInterval(() => this.#dropIdle(), IDLE_MS / 10).unref();
  }

  async handle(request: Request, token: TokenRow): Promise<Response> {
    const id = request.headers.get(HEADER);
    if (id === null) return this.#begin(request, token);
    const client = this.#clients.get(id);
    // Somebody else's id is as unknown as one that never was.
    if (client?.token !== token.id) {
      return rpcError(404, -32_001, "There is no such MCP session; begin a new one.");
    }
    client.lastHeard = performance.now();
    return client.transport.handleRequest(request);
  }

  async close(): Promise<void> {
    clearInterval(this.#sweep);
    await Promise.allSettled([...this.#clients.values()].map((client) => client.close()));
  }

  async #begin(request: Request, token: TokenRow): Promise<Response> {
    this.#makeRoom(token);
    const { tools, version, onFailure, maxBodyBytes } = this.#parts;
    const server = createMcpServer({ tools: tools(token), version, by: token.name, onFailure });
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      maxRequestBodySize: maxBodyBytes,
      onsessioninitialized: (id) => {
        this.#clients.set(id, {
          token: token.id,
          transport,
          lastHeard: performance.now(),
          close: () => server.close(),
        });
      },
      onsessionclosed: (id) => void this.#clients.delete(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    // It was no `initialize`: nobody will ask for this server again.
    if (transport.sessionId === undefined || !this.#clients.has(transport.sessionId)) await server.close();
    return response;
  }

  #makeRoom(token: TokenRow): void {
    this.#dropIdle();
    const own = [...this.#clients].filter(([, client]) => client.token === token.id);
    if (own.length >= MOST_OF_ONE_TOKEN) this.#drop(own.sort(([, a], [, b]) => a.lastHeard - b.lastHeard)[0]![0]);
    if (this.#clients.size >= MOST_CLIENTS) {
      throw new RequestError("unavailable", "Too many MCP clients are connected.", { fix: "Try again later." });
    }
  }

  #dropIdle(): void {
    const now = performance.now();
    for (const [id, { lastHeard }] of this.#clients) if (now - lastHeard > IDLE_MS) this.#drop(id);
  }

  #drop(id: string): void {
    const client = this.#clients.get(id);
    this.#clients.delete(id);
    client?.close().catch((error: unknown) => this.#parts.onFailure("close", error));
  }
}

const rpcError = (status: number, code: number, message: string): Response =>
  new Response(JSON.stringify({ jsonrpc: "2.0", error: { code, message }, id: null }), {
    status,
    headers: { "content-type": "application/json" },
  });
