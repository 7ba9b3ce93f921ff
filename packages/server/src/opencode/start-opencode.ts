import type { IncomingMessage } from "node:http";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RequestError } from "@tandem/protocol";
import { EntranceGuard } from "../http/access/entrance-guard.ts";
import { bind, closeServer, createNodeServer } from "../http/node-server.ts";
import { beginExchange, type Exchange } from "../http/request/exchange.ts";
import { isAddress } from "../http/request/is-address.ts";
import type { ServerSettings } from "../http/settings.ts";
import { createOpencodeApp, type OpencodeAppOptions } from "./create-opencode-app.ts";
import { opencodeError } from "./opencode-error.ts";

export { OpencodeTenants } from "./opencode-tenants.ts";

export interface OpencodeListener {
  /** Such as `http://127.0.0.1:4096`. */
  readonly url: string;
  close(deadlineMs: number): Promise<void>;
}

/** Listens for opencode's clients, on loopback only. */
export async function startOpencode(
  options: Omit<OpencodeAppOptions, "guard" | "maxJsonBytes"> & { settings: ServerSettings; port: number },
): Promise<OpencodeListener> {
  const { logger, port, tenants } = options;
  const settings: ServerSettings = {
    ...options.settings,
    host: "127.0.0.1",
    port,
    tls: undefined,
    trustedProxy: false,
    allowedHosts: [],
    allowedOrigins: [],
  };
  const guard = new EntranceGuard(settings);
  const app = createOpencodeApp({ ...options, guard, maxJsonBytes: settings.maxJsonBytes });
  const exchanges = new WeakMap<IncomingMessage, Exchange>();
  const listener = getRequestListener(
    (request, env) => {
      const { incoming, outgoing } = env as HttpBindings;
      return app.fetch(request, { incoming, outgoing, exchange: exchanges.get(incoming)! });
    },
    { overrideGlobalObjects: false, autoCleanupIncoming: false },
  );
  const server = createNodeServer(settings, logger, (incoming, outgoing) => {
    const exchange = beginExchange(incoming, outgoing, { logger, trustedProxy: false });
    exchanges.set(incoming, exchange);
    if (isAddress(incoming)) return void listener(incoming, outgoing);
    const malformed = new RequestError("invalid_request", "This is not an address of this server.");
    const { response } = opencodeError(malformed, exchange.id);
    void response
      .text()
      .then((body) => outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(body));
  });
  const bound = await bind(server, settings);
  return {
    url: `http://127.0.0.1:${bound.port}`,
    close: async (deadlineMs) => {
      tenants.close();
      await closeServer(server, deadlineMs);
    },
  };
}
