import { EntranceGuard } from "../http/access/entrance-guard.ts";
import { bind, closeServer } from "../http/node-server.ts";
import { serveApp } from "../http/serve-app.ts";
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
  const server = serveApp(app, settings, { logger, errorReply: opencodeError });
  const bound = await bind(server, settings);
  return {
    url: `http://127.0.0.1:${bound.port}`,
    close: async (deadlineMs) => {
      tenants.close();
      await closeServer(server, deadlineMs);
    },
  };
}
