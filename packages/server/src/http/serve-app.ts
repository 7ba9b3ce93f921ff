import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RequestError } from "@tandem/protocol";
import type { Logger } from "./create-logger.ts";
import type { ErrorReply } from "./error-reply.ts";
import { createNodeServer } from "./node-server.ts";
import { beginExchange, type Exchange } from "./request/exchange.ts";
import { isAddress } from "./request/is-address.ts";
import type { ServerSettings } from "./settings.ts";

interface ServedApp {
  fetch(request: Request, bindings: HttpBindings & { exchange: Exchange }): Response | Promise<Response>;
}

/** An HTTP server that passes its requests to an app. It answers a request without a valid address itself. */
export function serveApp(
  app: ServedApp,
  settings: ServerSettings,
  {
    logger,
    onRequest,
    errorReply,
  }: {
    logger: Logger;
    onRequest?: (incoming: IncomingMessage, outgoing: ServerResponse) => void;
    errorReply: (error: unknown, requestId: string) => ErrorReply;
  },
): Server {
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const listener = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      return app.fetch(request, { incoming, outgoing, exchange: exchanges.get(incoming)! });
    },
    // Node reads a refused body to its end. The adapter would close the connection, and the client would miss the
    // response.
    { overrideGlobalObjects: false, autoCleanupIncoming: false },
  );
  return createNodeServer(settings, logger, (incoming, outgoing) => {
    const exchange = beginExchange(incoming, outgoing, { logger, trustedProxy: settings.trustedProxy });
    exchanges.set(incoming, exchange);
    onRequest?.(incoming, outgoing);
    if (isAddress(incoming)) return void listener(incoming, outgoing);
    const malformed = new RequestError("invalid_request", "This is not an address of this server.");
    const { status, headers, body } = errorReply(malformed, exchange.id);
    outgoing.writeHead(status, headers).end(body);
  });
}
