import type { IncomingMessage, Server } from "node:http";
import { systemClock, type Clock } from "@tandem/protocol";
import { DEFAULT_TENANT, type Store, type TokenRow } from "@tandem/storage";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import type { TracesRequests } from "../telemetry/trace-request.ts";
import { TenantHandlers } from "./tenant-handlers.ts";
import type { TenantRuntime, TenantRuntimes } from "../tenants/tenant-runtime.ts";
import type { TenantService } from "../tenants/tenant-service.ts";
import { ForwardSeal } from "../http/access/forward-seal.ts";
import { SharedKey } from "../http/access/shared-key.ts";
import { readTaken, type TakenLease } from "../fleet/taken-question.ts";
import { Authorizer } from "../http/access/authorize.ts";
import { createApp } from "./create-app.ts";
import type { Logger } from "../http/create-logger.ts";
import { EntranceGuard } from "../http/access/entrance-guard.ts";
import { errorReply } from "../http/error-reply.ts";
import { RequestJournal } from "../http/idempotency/request-journal.ts";
import { FileMemoryLimit } from "../http/request/file-memory-limit.ts";
import { bind, closeServer } from "../http/node-server.ts";
import { serveApp } from "../http/serve-app.ts";
import { DocsFiles } from "../http/page/docs-files.ts";
import { PageFiles } from "../http/page/page-files.ts";
import { sharedCodes } from "../http/page/sign-in-codes.ts";
import { SignIn } from "../http/page/sign-in.ts";
import { checkBinding, defaultSettings, type ServerSettings } from "../http/settings.ts";
import { OpenStreams } from "../http/sse/open-streams.ts";
import { StoreCheck } from "../http/store-check.ts";
import { acceptUpgrade } from "./accept-upgrade.ts";
import type { OpencodeListener } from "../opencode/start-opencode.ts";

export interface RunningServer extends AsyncDisposable {
  /** Such as `http://127.0.0.1:4760`. */
  readonly url: string;
  readonly port: number;
  /** The address for opencode's clients; undefined if they are not served. */
  readonly opencodeUrl: string | undefined;
  /** A one-time sign-in link to the page, valid for ten minutes. */
  signInLink(): Promise<string>;
  /** Refuses new work but still answers, while turns are finishing. */
  drain(): void;
  /** Stops listening, notifies streams, waits for requests until the deadline and aborts the rest. */
  close(deadlineMs: number): Promise<void>;
}

/** The default tenant's runtime, and services that all tenants share. */
export interface ServerOptions extends Omit<TenantRuntime, "tenant"> {
  /** The runtimes of other tenants; by default there are none. */
  runtimes?: TenantRuntimes;
  /** Without it, tenants can be neither created nor listed. */
  tenantService?: TenantService;
  /** The version that MCP clients see. */
  version?: string;
  /** While true, the server answers but is not ready: others cannot see it yet. */
  isStarting?: () => boolean;
  /** In a fleet: takes no expired lease for the time of a lease. */
  promiseNoTakeover?: () => void;
  /** In a fleet: ends the process of a session that another worker has taken over. */
  endTaken?: (lease: TakenLease) => Promise<unknown>;
  /** With records, sign-in links are valid at every server on the store, and requests are safe to retry. */
  store: Pick<Store, "tokens" | "check"> & { records?: Store["records"] | undefined };
  logger: Logger;
  /** For sign-in, tokens, seals of forwarded requests, and retries of requests. Default: real time. */
  clock?: Clock;
  settings?: Partial<ServerSettings>;
  /** Served at `/metrics`, if set. */
  metrics?: ServerMetrics;
  /** Traces requests, if tracing is on. */
  tracing?: TracesRequests | undefined;
  /** The folder of the built page, if one is served. */
  page?: string;
  /** The folder of the built documentation, if it is served. */
  docs?: string;
  /** The loopback port for opencode's clients; 0 picks a free one. Undefined: they are not served. */
  opencodePort?: number | undefined;
}

/** Starts the HTTP API. Resolves when it listens; rejects if the address is not allowed or not available. */
export async function startServer(parts: ServerOptions): Promise<RunningServer> {
  const settings: ServerSettings = { ...defaultSettings, ...parts.settings };
  checkBinding(settings);
  const { server, signIn, drain, close, serveOpencode } = createServer(parts, settings);
  const { port } = await bind(server, settings);
  const opencode = parts.opencodePort === undefined ? undefined : await serveOpencode(parts.opencodePort);
  const host = settings.host.includes(":") ? `[${settings.host.replace(/^\[|\]$/g, "")}]` : settings.host;
  let closing: Promise<void> | undefined;
  const url = `${settings.tls ? "https" : "http"}://${host}:${port}`;
  return {
    url,
    signInLink: async () => `${url}/#code=${(await signIn.createCode()).code}`,
    opencodeUrl: opencode?.url,
    port,
    drain,
    close: (deadlineMs) => (closing ??= close(deadlineMs)),
    [Symbol.asyncDispose]: () => (closing ??= close(0)),
  };
}

/** Creates the HTTP API without listening. */
export function createServer(
  parts: ServerOptions,
  settings: ServerSettings,
): {
  server: Server;
  signIn: SignIn;
  /** Closes the server if the port is not available. */
  serveOpencode: (port: number) => Promise<OpencodeListener>;
} & Pick<RunningServer, "drain" | "close"> {
  const { store, logger, clock = systemClock } = parts;
  const key = new SharedKey(store.records);
  const seal = new ForwardSeal(key, clock);
  // Others ask when this process has no database. If it is not loaded now, it is loaded for the first question.
  if (parts.endTaken) key.load().catch(() => {});
  const authorizer = new Authorizer(store.tokens, seal, clock);
  const streams = new OpenStreams(settings, (token) => authorizer.isStillValid(token));
  const check = new StoreCheck(store);
  let isStopping = false;
  const readiness = {
    trouble: async () => {
      if (isStopping) return "stopping" as const;
      return parts.isStarting?.() ? ("starting" as const) : check.trouble();
    },
    promiseNoTakeover: () => parts.promiseNoTakeover?.(),
    endTaken: async (query: Record<string, string>) => {
      const taken = parts.endTaken && (await readTaken(query, key));
      if (taken) await parts.endTaken?.(taken);
      return taken !== undefined;
    },
    get isStopping() {
      return isStopping;
    },
  };
  const guard = new EntranceGuard(settings);
  const isValid = (token: TokenRow): Promise<boolean> => authorizer.isStillValid(token);
  const handlers = new TenantHandlers(
    { ...parts, tenant: { id: DEFAULT_TENANT, name: DEFAULT_TENANT } },
    {
      settings,
      streams,
      isValid,
      seal,
      logger,
      version: parts.version ?? "0.0.0",
      metrics: parts.metrics,
      fileMemory: new FileMemoryLimit(settings.maxFileBytesAtOnce),
      journal:
        store.records && new RequestJournal(store.records, (details, text) => logger.warn(details, text), { clock }),
    },
    { tokens: store.tokens, runtimes: parts.runtimes, tenantService: parts.tenantService },
  );
  const signIn = new SignIn(store.tokens, { codes: store.records && sharedCodes(store.records, clock), clock });
  const page = parts.page === undefined ? undefined : new PageFiles(parts.page);
  const docs = parts.docs === undefined ? undefined : new DocsFiles(parts.docs);
  const app = createApp({ guard, authorizer, handlers, readiness, signIn, page, docs, logger, metrics: parts.metrics });
  parts.metrics?.countStreams(() => streams.size);

  const server = serveApp(app, settings, {
    logger,
    errorReply,
    onRequest: (incoming, outgoing) => {
      parts.metrics?.request(incoming, outgoing);
      parts.tracing?.request(incoming, outgoing);
    },
  });

  if (handlers.own.acp) {
    const { trustedProxy } = settings;
    server.on("upgrade", (incoming: IncomingMessage, socket, head) => {
      void acceptUpgrade({ incoming, socket, head }, { guard, authorizer, readiness, handlers, logger, trustedProxy });
    });
  }

  let opencode: OpencodeListener | undefined;
  const close = async (deadlineMs: number): Promise<void> => {
    isStopping = true;
    streams.closeAll("the server is stopping");
    await handlers.close();
    await Promise.all([closeServer(server, deadlineMs), opencode?.close(deadlineMs)]);
  };
  const serveOpencode = async (port: number): Promise<OpencodeListener> => {
    try {
      const { OpencodeTenants, startOpencode } = await import("../opencode/start-opencode.ts");
      const runtimeOf = async (tenant: string) => (await handlers.of(tenant))?.runtime;
      const tenants = new OpencodeTenants({ runtimeOf, logger, batchMs: settings.batchMs });
      parts.runtimes?.onClose(async (runtime) => tenants.leave(runtime));
      opencode = await startOpencode({ settings, port, authorizer, tenants, streams, readiness, logger });
      return opencode;
    } catch (error) {
      await close(0);
      throw error;
    }
  };
  return { server, signIn, drain: () => void (isStopping = true), close, serveOpencode };
}
