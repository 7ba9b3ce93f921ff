import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Duplex } from "node:stream";

/** Bounds of one proxy. Tests shorten them. */
export interface ProxyLimits {
  /** Connections at once; more are closed without an answer. */
  connections: number;
  headerBytes: number;
  /** From the start of a connection or request to the end of its headers. */
  headersMs: number;
  /** To the end of a request's body. */
  requestMs: number;
  /** Without a byte in either direction. */
  idleMs: number;
}

interface ProxyHandlers {
  request: (request: IncomingMessage, response: ServerResponse) => void;
  connect: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  upgrade: (socket: Duplex) => void;
}

/** An HTTP server with strict parsing and deadlines for slow clients. */
export function createProxyServer(limits: ProxyLimits, handlers: ProxyHandlers): Server {
  const server = createServer({
    insecureHTTPParser: false,
    requireHostHeader: true,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: Math.min(limits.idleMs, 120_000),
    connectionsCheckingInterval: Math.min(limits.headersMs, 5_000),
  });
  server.maxConnections = limits.connections;
  server.timeout = limits.idleMs;
  server.on("request", handlers.request);
  server.on("connect", (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    socket.on("error", () => socket.destroy());
    handlers.connect(request, socket, head);
  });
  server.on("upgrade", (_request: IncomingMessage, socket: Duplex) => {
    socket.on("error", () => socket.destroy());
    handlers.upgrade(socket);
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Duplex) => {
    const [status, sentence] = parseFailure(error.code);
    if (socket.writable && error.code !== "ECONNRESET") endWith(socket, status, sentence);
    else socket.destroy();
  });
  return server;
}

/** Answers on a bare socket and closes it. The reason phrase is part of what many clients show. */
export function endWith(socket: Duplex, status: number, body: string, reason = REASONS[status] ?? "Refused"): void {
  const text = `${body}\n`;
  socket.end(
    `HTTP/1.1 ${status} ${reason.replaceAll(/[^\x20-\x7e]/g, "?")}\r\ncontent-type: text/plain; charset=utf-8\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
    () => socket.destroy(),
  );
}

const REASONS: Record<number, string> = {
  400: "Bad Request",
  403: "Forbidden",
  408: "Request Timeout",
  431: "Request Header Fields Too Large",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
};

function parseFailure(code: string | undefined): [status: number, sentence: string] {
  if (code === "HPE_HEADER_OVERFLOW") return [431, "The headers are too large."];
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return [408, "The request took too long to arrive."];
  return [400, "The request is not valid HTTP."];
}
