import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

type RpcRequest = { id?: number; method: string; params?: { protocolVersion?: string; name?: string } };

/** An MCP server with an OAuth server of its own, on loopback. Its refresh tokens work once. */
export class OAuthMcpServer implements AsyncDisposable {
  readonly #server = createServer((request, response) => void this.#answer(request, response));
  readonly #codes = new Map<string, { challenge: string; redirect: string }>();
  #refreshToken = "";
  /** The token that `/mcp` accepts. */
  accessToken = "";
  /** Requests to `/token`, with their grants. */
  readonly grants: URLSearchParams[] = [];
  readonly tokenHeaders: (string | undefined)[] = [];
  /** The `Authorization` of requests to `/mcp`. */
  readonly seen: (string | undefined)[] = [];
  /** The names of called tools. */
  readonly calls: string[] = [];
  /** The answer of `/token`, if it is to fail. */
  tokenFailure: { status: number; body: string } | undefined;
  /** The answer of `/mcp`, if it is to fail. */
  mcpFailure: number | undefined;
  expiresIn: number | undefined = 3_600;
  /** Other fields of the answer of `/token`. */
  tokenFields: Record<string, unknown> = {};
  /** Other fields of the metadata of the authorization server. */
  metadata: Record<string, unknown> = {};
  /** Called before `/token` answers a refresh. */
  onRefresh: () => Promise<void> = async () => {};

  static async start(): Promise<OAuthMcpServer> {
    const server = new OAuthMcpServer();
    await once(server.#server.listen(0, "127.0.0.1"), "listening");
    server.issue();
    return server;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get url(): string {
    return `${this.origin}/mcp`;
  }

  get refreshes(): number {
    return this.grants.filter((grant) => grant.get("grant_type") === "refresh_token").length;
  }

  /** New tokens; the old ones stop working. */
  issue(): { access_token: string; refresh_token: string } {
    this.accessToken = `access-${randomUUID()}`;
    this.#refreshToken = `refresh-${randomUUID()}`;
    return { access_token: this.accessToken, refresh_token: this.#refreshToken };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.origin);
    const body = await text(request);
    const send = (status: number, value: unknown, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
    switch (url.pathname) {
      case "/.well-known/oauth-protected-resource/mcp":
        return send(200, { resource: this.url, authorization_servers: [this.origin], scopes_supported: ["tools"] });
      case "/.well-known/oauth-authorization-server":
        return send(200, {
          issuer: this.origin,
          authorization_endpoint: `${this.origin}/authorize`,
          token_endpoint: `${this.origin}/token`,
          registration_endpoint: `${this.origin}/register`,
          response_types_supported: ["code"],
          code_challenge_methods_supported: ["S256"],
          token_endpoint_auth_methods_supported: ["none"],
          ...this.metadata,
        });
      case "/register":
        return send(201, { ...JSON.parse(body), client_id: "registered-client" });
      case "/authorize":
        return this.#authorize(url.searchParams, response);
      case "/token":
        this.tokenHeaders.push(request.headers.authorization);
        return this.#token(new URLSearchParams(body), send);
      case "/mcp":
        return this.#mcp(request, body, send);
      default:
        return send(404, {});
    }
  }

  /** The person agrees at once. */
  #authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = randomUUID();
    const redirect = query.get("redirect_uri") ?? "";
    this.#codes.set(code, { challenge: query.get("code_challenge") ?? "", redirect });
    const back = new URL(redirect);
    back.search = new URLSearchParams({ code, state: query.get("state") ?? "", iss: this.origin }).toString();
    response.writeHead(302, { location: back.href }).end();
  }

  async #token(grant: URLSearchParams, send: (status: number, value: unknown) => void): Promise<void> {
    this.grants.push(grant);
    if (grant.get("grant_type") === "refresh_token") await this.onRefresh();
    if (this.tokenFailure) return send(this.tokenFailure.status, { error: this.tokenFailure.body });
    if (!this.#isGranted(grant)) return send(400, { error: "invalid_grant", sent: grant.get("refresh_token") });
    send(200, { ...this.issue(), token_type: "Bearer", expires_in: this.expiresIn, ...this.tokenFields });
  }

  #isGranted(grant: URLSearchParams): boolean {
    if (grant.get("grant_type") === "refresh_token") return grant.get("refresh_token") === this.#refreshToken;
    const code = this.#codes.get(grant.get("code") ?? "");
    this.#codes.delete(grant.get("code") ?? "");
    const challenge = createHash("sha256")
      .update(grant.get("code_verifier") ?? "")
      .digest("base64url");
    return code !== undefined && code.challenge === challenge && code.redirect === grant.get("redirect_uri");
  }

  #mcp(
    { method, headers: { authorization } }: IncomingMessage,
    body: string,
    send: (status: number, value: unknown, headers?: Record<string, string>) => void,
  ): void {
    this.seen.push(authorization);
    if (method !== "POST") return send(405, {});
    if (this.mcpFailure !== undefined) return send(this.mcpFailure, { got: authorization });
    if (authorization !== `Bearer ${this.accessToken}`) {
      const metadata = `${this.origin}/.well-known/oauth-protected-resource/mcp`;
      return send(401, { got: authorization }, { "www-authenticate": `Bearer resource_metadata="${metadata}"` });
    }
    const request = JSON.parse(body) as RpcRequest;
    if (request.id === undefined) return send(202, {});
    send(200, { jsonrpc: "2.0", id: request.id, result: this.#result(request, authorization) });
  }

  #result({ method, params }: RpcRequest, authorization: string): unknown {
    switch (method) {
      case "tools/list":
        return { tools: [{ name: "whoami", description: "Who am I?", inputSchema: { type: "object" } }] };
      case "tools/call":
        this.calls.push(params?.name ?? "");
        // A careless server returns the token.
        return { content: [{ type: "text", text: `You sent ${authorization}, and are ann.` }] };
      default:
        return {
          protocolVersion: params?.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "oauth", version: "1" },
        };
    }
  }
}
