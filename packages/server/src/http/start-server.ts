import type { IncomingMessage, Server } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RequestError } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { Store } from "@tandem/storage";
import { AcpDoor, type ConnectAgent } from "../acp/net/acp-door.ts";
import { McpClients } from "../mcp/mcp-clients.ts";
import type { Caretaker } from "../caretaker.ts";
import type { ServedContext } from "../served-context.ts";
import { Authorizer } from "./authorize.ts";
import { createApp } from "./create-app.ts";
import type { Logger } from "./create-logger.ts";
import { EntranceGuard } from "./entrance-guard.ts";
import { errorReply } from "./error-reply.ts";
import { beginExchange, type Exchange } from "./exchange.ts";
import { isAddress } from "./is-address.ts";
import { bind, closeServer, createNodeServer } from "./node-server.ts";
import { PageFiles } from "./page/page-files.ts";
import { SignIn } from "./page/sign-in.ts";
import { RouteRunner } from "./run-route.ts";
import { checkBinding, defaultSettings, type ServerSettings } from "./settings.ts";
import { OpenStreams } from "./sse/open-streams.ts";
import { SessionHubs } from "./sse/session-hubs.ts";
import { StoreCheck } from "./store-check.ts";
import { takeUpgrade } from "./take-upgrade.ts";

export interface RunningServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4760`. */
  readonly url: string;
  readonly port: number;
  /** A link by which a person comes to the page: good once, for a minute. */
  signInLink(): string;
  /** Takes no new work from now on, but still answers: for while turns are coming to their end. */
  drain(): void;
  /** Accepts nothing more, tells streams, lets requests end until the deadline, and cuts off the rest. */
  close(deadlineMs: number): Promise<void>;
}

export interface ServerParts {
  engine: Engine;
  /** Undefined where the project has none. */
  context?: ServedContext;
  /** Knows how the server itself is; without it, nobody can ask. */
  caretaker?: Caretaker;
  /** What MCP clients are told that this is. */
  version?: string;
  store: Pick<Store, "tokens" | "check">;
  logger: Logger;
  settings?: Partial<ServerSettings>;
  /** The folder of the built page; without it, there is none. */
  page?: string;
  /** An ACP agent for one connection of this token; without it, there is nothing at `/acp`. */
  acp?: ConnectAgent;
}

/** Starts the HTTP API. Resolves when it listens; rejects if it must not, or cannot. */
export async function startServer(parts: ServerParts): Promise<RunningServer> {
  const settings: ServerSettings = { ...defaultSettings, ...parts.settings };
  checkBinding(settings);
  const { server, signIn, drain, close } = createServer(parts, settings);
  const { port } = await bind(server, settings);
  const host = settings.host.includes(":") ? `[${settings.host.replace(/^\[|\]$/g, "")}]` : settings.host;
  let closing: Promise<void> | undefined;
  const url = `${settings.tls ? "https" : "http"}://${host}:${port}`;
  return {
    url,
    signInLink: () => `${url}/#code=${signIn.createCode().code}`,
    port,
    drain,
    close: (deadlineMs) => (closing ??= close(deadlineMs)),
    [Symbol.asyncDispose]: () => (closing ??= close(0)),
  };
}

/** The HTTP API, which listens nowhere yet. */
export function createServer(
  parts: ServerParts,
  settings: ServerSettings,
): { server: Server; signIn: SignIn } & Pick<RunningServer, "drain" | "close"> {
  const { engine, context, store, logger } = parts;
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
  const runner = new RouteRunner({
    ...{ engine, context, settings, hubs, streams, logger },
    caretaker: parts.caretaker,
    tokens: store.tokens,
  });
  const mcp = new McpClients({
    context,
    version: parts.version ?? "0.0.0",
    isValid: (token) => authorizer.isStillValid(token),
    checkMs: settings.heartbeatMs,
    logger,
  });
  const acp = parts.acp && createAcpDoor(parts.acp, { engine, authorizer, streams, settings, logger });
  const signIn = new SignIn(store.tokens, settings.tls !== undefined || settings.trustedProxy);
  const page = parts.page === undefined ? undefined : new PageFiles(parts.page);
  const app = createApp({ guard, authorizer, runner, mcp, acp, readiness, signIn, page, logger });

  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const listener = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      return app.fetch(request, { incoming, outgoing, exchange: exchanges.get(incoming)! });
    },
    // A body that is refused is passed over by Node, to its end: the adapter would break off, and the client miss the answer.
    { overrideGlobalObjects: false, autoCleanupIncoming: false },
  );
  const server = createNodeServer(settings, logger, (incoming, outgoing) => {
    const exchange = beginExchange(incoming, outgoing, { logger, trustedProxy: settings.trustedProxy });
    exchanges.set(incoming, exchange);
    if (isAddress(incoming)) return void listener(incoming, outgoing);
    const malformed = new RequestError("invalid_request", "This is not an address of this server.");
    const { status, headers, body } = errorReply(malformed, exchange.id);
    outgoing.writeHead(status, headers).end(body);
  });

  if (acp) {
    const { trustedProxy } = settings;
    server.on("upgrade", (incoming: IncomingMessage, socket, head) => {
      void takeUpgrade({ incoming, socket, head }, { guard, authorizer, readiness, acp, logger, trustedProxy });
    });
  }

  const close = async (deadlineMs: number): Promise<void> => {
    isStopping = true;
    streams.closeAll("the server is stopping");
    await Promise.all([mcp.close(), acp?.close()]);
    await closeServer(server, deadlineMs);
  };
  return { server, signIn, drain: () => void (isStopping = true), close };
}

function createAcpDoor(
  connect: ConnectAgent,
  parts: Pick<ServerParts, "engine" | "logger"> & {
    authorizer: Authorizer;
    streams: OpenStreams;
    settings: ServerSettings;
  },
): AcpDoor {
  const { engine, authorizer, streams, settings, logger } = parts;
  return new AcpDoor({
    ...{ connect, streams, logger },
    hasSession: (id) =>
      engine.sessions.get(id).then(
        () => true,
        (error: unknown) => {
          if (error instanceof RequestError && error.code === "not_found") return false;
          throw error;
        },
      ),
    isValid: (token) => authorizer.isStillValid(token),
    limits: settings.acp,
    maxBodyBytes: settings.maxJsonBytes,
    heartbeatMs: settings.heartbeatMs,
  });
}
