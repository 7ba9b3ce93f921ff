import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RequestError, TandemError } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { Store } from "@tandem/storage";
import { Authorizer } from "./authorize.ts";
import { createApp } from "./create-app.ts";
import type { Logger } from "./create-logger.ts";
import { EntranceGuard } from "./entrance-guard.ts";
import { errorReply } from "./error-reply.ts";
import { beginExchange, type Exchange } from "./exchange.ts";
import { RouteRunner } from "./run-route.ts";
import { checkBinding, defaultSettings, type ServerSettings } from "./settings.ts";
import { OpenStreams } from "./sse/open-streams.ts";
import { SessionHubs } from "./sse/session-hubs.ts";
import { StoreCheck } from "./store-check.ts";

export interface RunningServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4760`. */
  readonly url: string;
  readonly port: number;
  /** Takes no new work from now on, but still answers: for while turns are coming to their end. */
  drain(): void;
  /** Accepts nothing more, tells streams, lets requests end until the deadline, and cuts off the rest. */
  close(deadlineMs: number): Promise<void>;
}

/** How often a connection is looked at that ought to have sent its request by now. */
const CHECK_CONNECTIONS_MS = 2_000;

/** Starts the HTTP API. Resolves when it listens; rejects if it must not, or cannot. */
export async function startServer(parts: {
  engine: Engine;
  store: Pick<Store, "tokens" | "check">;
  logger: Logger;
  settings?: Partial<ServerSettings>;
}): Promise<RunningServer> {
  const { engine, store, logger } = parts;
  const settings: ServerSettings = { ...defaultSettings, ...parts.settings };
  checkBinding(settings);

  const authorizer = new Authorizer(store.tokens);
  const streams = new OpenStreams(settings, (token) => authorizer.isStillValid(token));
  const hubs = new SessionHubs(engine.sessions, settings, logger);
  const check = new StoreCheck(store);
  let isStopping = false;
  const readiness = {
    isReady: async () => !isStopping && (await check.passes()),
    get isStopping() {
      return isStopping;
    },
  };
  const guard = new EntranceGuard(settings);
  const runner = new RouteRunner({ engine, settings, hubs, streams, logger });
  const app = createApp({ guard, authorizer, runner, readiness, logger });

  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const listener = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      return app.fetch(request, { incoming, outgoing, exchange: exchanges.get(incoming)! });
    },
    { overrideGlobalObjects: false },
  );
  const server = listen(settings, (incoming, outgoing) => {
    const exchange = beginExchange(incoming, outgoing, { logger, trustedProxy: settings.trustedProxy });
    exchanges.set(incoming, exchange);
    // What the adapter would turn away with an empty answer.
    if (isAddress(incoming)) return void listener(incoming, outgoing);
    const malformed = new RequestError("invalid_request", "This is not an address of this server.");
    const { status, headers, body } = errorReply(malformed, exchange.id);
    outgoing.writeHead(status, headers).end(body);
  });

  server.on("clientError", (error, socket) => turnAway(error, socket, logger));
  const { port } = await bind(server, settings);
  const host = settings.host.includes(":") ? `[${settings.host.replace(/^\[|\]$/g, "")}]` : settings.host;
  const close = async (deadlineMs: number): Promise<void> => {
    isStopping = true;
    streams.closeAll("the server is stopping");
    await closeServer(server, deadlineMs);
  };
  let closing: Promise<void> | undefined;
  return {
    url: `${settings.tls ? "https" : "http"}://${host}:${port}`,
    port,
    drain: () => void (isStopping = true),
    close: (deadlineMs) => (closing ??= close(deadlineMs)),
    [Symbol.asyncDispose]: () => (closing ??= close(0)),
  };
}

function listen(
  settings: ServerSettings,
  handle: (incoming: IncomingMessage, outgoing: ServerResponse) => void,
): Server {
  const options = {
    headersTimeout: settings.headersTimeoutMs,
    requestTimeout: settings.requestTimeoutMs,
    connectionsCheckingInterval: Math.min(CHECK_CONNECTIONS_MS, settings.headersTimeoutMs),
  };
  return settings.tls ? createTlsServer({ ...options, ...settings.tls }, handle) : createServer(options, handle);
}

/** A path on this server, called by one name that can be one. */
function isAddress({ url, headers, rawHeaders }: IncomingMessage): boolean {
  const names = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === "host");
  const target = `http://${headers.host ?? ""}${url ?? ""}`;
  return names.length === 1 && url?.startsWith("/") === true && !url.includes("\\") && URL.canParse(target);
}

const MALFORMED: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** What is not HTTP, or comes too slowly, never becomes a request; it is in the log all the same. */
function turnAway(error: NodeJS.ErrnoException, socket: Duplex, logger: Logger): void {
  const status = MALFORMED[error.code ?? ""] ?? "400 Bad Request";
  if (error.code !== "ECONNRESET") logger.info({ status: Number.parseInt(status, 10), reason: error.code }, "no request");
  if (socket.writable) socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`);
  else socket.destroy();
}

async function bind(server: Server, { host, port }: ServerSettings): Promise<AddressInfo> {
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

async function closeServer(server: Server, deadlineMs: number): Promise<void> {
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
