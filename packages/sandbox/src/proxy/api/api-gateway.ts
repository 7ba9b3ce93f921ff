import type { IncomingMessage, ServerResponse } from "node:http";
import { sendGatewayError } from "./gateway-error.ts";
import { ApiForwarder, type ApiGatewayLimits, type ApiUpstream, type ApiUsage } from "./api-forwarder.ts";
import { judgeApiRequest } from "./judge-api-request.ts";
import { listenOnSocket, type SocketOwner } from "../listen-on-socket.ts";
import { createProxyServer, endWith } from "../proxy-server.ts";

export interface ApiGatewayOptions {
  /** The path of the unix socket. */
  socket: string;
  /** Read for each request, so that a new key or a refreshed login counts at once. */
  upstream: () => Promise<ApiUpstream>;
  /** The key or token that requests must have. A command of the agent does not get it; it could read it from a login's file. */
  clientSecret?: string;
  onUsage?: (usage: ApiUsage) => void;
  /** Asked before each request to the model: why it is refused. */
  refusal?: () => string | undefined;
  /** The host's variables: its proxy and certificates. */
  variables?: Readonly<Record<string, string | undefined>>;
  owner?: SocketOwner;
  limits?: Partial<ApiGatewayLimits>;
}

export interface ApiGateway extends AsyncDisposable {
  readonly socket: string;
  /** Answers a request that came another way. */
  handle: (request: IncomingMessage, response: ServerResponse) => void;
}

const LIMITS: ApiGatewayLimits = {
  connections: 256,
  requests: 64,
  headerBytes: 32_768,
  headersMs: 20_000,
  requestMs: 300_000,
  // An answer that is not streamed comes whole, after up to ten minutes of silence.
  idleMs: 900_000,
  bodyBytes: 64 * 1024 * 1024,
};

/**
 * Serves the model's API on a unix socket. It drops every credential of the client and adds the real one, so that none is needed
 * inside the sandbox. Programs of the agent can call it, too: it allows a few routes only, and counts all usage.
 */
export async function startApiGateway(options: ApiGatewayOptions): Promise<ApiGateway> {
  const limits = { ...LIMITS, ...options.limits };
  const forwarder = new ApiForwarder({ ...options, limits });
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const judgement = judgeApiRequest(request);
    if (!hasSecret(request, options.clientSecret)) {
      return sendGatewayError(request, response, 401, "This socket serves the session's own Claude Code only.");
    }
    const refusal = judgement.allowed && judgement.operation === "create" ? options.refusal?.() : undefined;
    // Claude Code retries most other codes, or asks for a new login.
    if (refusal !== undefined) return sendGatewayError(request, response, 400, refusal);
    if (judgement.allowed) void forwarder.forward(request, response, judgement.operation);
    else sendGatewayError(request, response, judgement.status, judgement.message);
  };
  const server = createProxyServer(limits, {
    request: handle,
    connect: (_request, socket) => endWith(socket, 403, "This socket serves the model's API only and is not a proxy."),
    upgrade: (socket) => endWith(socket, 403, "This socket does not upgrade connections."),
  });
  const listening = await listenOnSocket(server, options.socket, options.owner);
  return {
    socket: listening.path,
    handle,
    async [Symbol.asyncDispose]() {
      forwarder[Symbol.dispose]();
      await listening[Symbol.asyncDispose]();
    },
  };
}

function hasSecret({ headers }: IncomingMessage, secret: string | undefined): boolean {
  if (secret === undefined) return true;
  const given = [headers["x-api-key"], headers.authorization?.replace(/^bearer +/i, "")];
  return given.includes(secret);
}
