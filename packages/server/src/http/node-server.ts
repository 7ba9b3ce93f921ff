import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TandemError } from "@tandem/protocol";
import { ACP_PATH } from "./acp-path.ts";
import type { Logger } from "./create-logger.ts";
import type { ServerSettings } from "./settings.ts";

// Node's HTTP server: limits, start and shutdown.

/** How often Node checks for connections with overdue requests. */
const CHECK_CONNECTIONS_MS = 2_000;
/**
 * How long an idle connection stays open: longer than clients and balancers keep theirs (60 s at most by default). If the server
 * were the first to close it, a request that is sent in that moment would be lost.
 */
const KEEP_ALIVE_MS = 75_000;

export function createNodeServer(
  settings: ServerSettings,
  logger: Logger,
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): Server {
  const options = {
    headersTimeout: settings.headersTimeoutMs,
    requestTimeout: settings.requestTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connectionsCheckingInterval: Math.min(CHECK_CONNECTIONS_MS, settings.headersTimeoutMs),
    // On other paths an upgrade request is answered like a normal request.
    shouldUpgradeCallback: ({ url }: IncomingMessage): boolean =>
      server.listenerCount("upgrade") > 0 && url?.split("?", 1)[0] === ACP_PATH,
  };
  const server: Server = settings.tls
    ? createTlsServer({ ...options, ...settings.tls }, handle)
    : createServer(options, handle);
  server.timeout = settings.silenceTimeoutMs;
  server.on("clientError", ({ code }: NodeJS.ErrnoException, socket) => {
    turnAway(MALFORMED[code ?? ""] ?? "400 Bad Request", code, socket, logger);
  });
  // Node would answer these itself, without the access log.
  server.on("checkExpectation", handle);
  server.on("connect", ({ method }, socket) => turnAway("405 Method Not Allowed", method, socket, logger));
  return server;
}

const MALFORMED: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** Invalid or slow input never becomes a request; log it anyway. */
function turnAway(status: string, reason: string | undefined, socket: Duplex, logger: Logger): void {
  const remote = socket instanceof Socket ? socket.remoteAddress : undefined;
  if (reason !== "ECONNRESET") logger.info({ status: Number.parseInt(status, 10), reason, remote }, "no request");
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  else socket.destroy();
}

export async function bind(
  server: Server,
  { host, port }: Pick<ServerSettings, "host" | "port">,
): Promise<AddressInfo> {
  try {
    server.listen(port, host.replace(/^\[|\]$/g, ""));
    await once(server, "listening");
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === "EADDRINUSE") {
      throw new TandemError("port_in_use", `Port ${port} of ${host} is taken.`, {
        fix: "Stop what listens there, or choose another port; 0 takes a free one.",
        cause,
      });
    }
    throw new TandemError("listen_failed", `Cannot listen on ${host}, port ${port}: the system says ${code}.`, {
      cause,
    });
  }
  return server.address() as AddressInfo;
}

export async function closeServer(server: Server, deadlineMs: number): Promise<void> {
  const closed = once(server, "close");
  server.close();
  const idle = setInterval(() => server.closeIdleConnections(), 20);
  const cut = setTimeout(() => server.closeAllConnections(), deadlineMs);
  try {
    await closed;
  } finally {
    clearInterval(idle);
    clearTimeout(cut);
  }
}
