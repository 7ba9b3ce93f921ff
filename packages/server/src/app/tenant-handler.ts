import { RequestError } from "@tandem/protocol";
import type { TokenRow, TokenStore } from "@tandem/storage";
import { AcpEndpoint, CONNECTION_HEADER } from "../acp/net/acp-endpoint.ts";
import type { ConnectAgent } from "../tenants/connect-agent.ts";
import type { ForwardSeal } from "../http/access/forward-seal.ts";
import { Forwarder } from "../fleet/forwarder.ts";
import { Roster } from "../fleet/roster.ts";
import { RequestRouter } from "../fleet/request-router.ts";
import type { Logger } from "../http/create-logger.ts";
import type { RequestJournal } from "../http/idempotency/request-journal.ts";
import type { FileMemoryLimit } from "../http/request/file-memory-limit.ts";
import { RouteRunner } from "./run-route.ts";
import type { ServerSettings } from "../http/settings.ts";
import type { OpenStreams } from "../http/sse/open-streams.ts";
import { SessionHubs } from "../http/sse/session-hubs.ts";
import type { ServerMetrics } from "../metrics/server-metrics.ts";
import { McpClients, MCP_HEADER } from "../mcp/mcp-clients.ts";
import type { TenantRuntime } from "../tenants/tenant-runtime.ts";
import type { TenantService } from "../tenants/tenant-service.ts";

/** Limits and services that all tenants of a server share. */
export interface SharedServices {
  settings: ServerSettings;
  streams: OpenStreams;
  fileMemory: FileMemoryLimit;
  /** Undefined if nothing is stored. */
  journal?: RequestJournal | undefined;
  version: string;
  /** Whether a token is still valid. */
  isValid: (token: TokenRow) => Promise<boolean>;
  /** Vouches for requests of the page that are forwarded. */
  seal: ForwardSeal;
  logger: Logger;
  /** Undefined if metrics are off. */
  metrics?: ServerMetrics | undefined;
}

/** Handles the requests of one tenant and has no access to others. */
export class TenantHandler {
  readonly runtime: TenantRuntime;
  readonly runner: RouteRunner;
  readonly mcp: McpClients;
  /** Undefined if ACP is off. */
  readonly acp: AcpEndpoint | undefined;
  /** Set on a server that runs no sessions: connections are forwarded to a worker. */
  readonly routers: { acp?: RequestRouter; mcp?: RequestRouter };

  /** `tokens`: those that the tenant may see. `tenantService`: set for the operator only. */
  constructor(
    runtime: TenantRuntime,
    shared: SharedServices,
    { tokens, tenantService }: { tokens: TokenStore; tenantService?: TenantService },
  ) {
    const { engine, context, fleet, tenant } = runtime;
    const { settings, version, isValid, seal, logger, metrics } = shared;
    this.runtime = runtime;
    const hubs = new SessionHubs({
      sessions: engine.sessions,
      settings,
      logger,
      onReceive: metrics && ((event) => metrics.received(event)),
    });
    const roster = fleet && new Roster(fleet.store.workers);
    const hasContext = () => context?.() !== undefined;
    const forwarder =
      fleet &&
      roster &&
      new Forwarder({ self: fleet, roster, limits: settings, seal, logger, tenant: tenant.id, hasContext });
    const routerFor = (idHeader: string): RequestRouter | undefined =>
      fleet?.role === "server" && roster
        ? new RequestRouter({ roster, tenant: tenant.id, idHeader, logger })
        : undefined;
    this.routers = { acp: routerFor(CONNECTION_HEADER), ...(!hasContext() && { mcp: routerFor(MCP_HEADER) }) };
    this.runner = new RouteRunner({ ...runtime, ...shared, tokens, hubs, tenantService, forwarder });
    this.mcp = new McpClients({ context: () => context?.(), version, isValid, checkMs: settings.heartbeatMs, logger });
    this.acp = runtime.acp && createAcpEndpoint(runtime.acp, runtime, shared);
  }

  async close(): Promise<void> {
    this.routers.acp?.close();
    await Promise.all([this.mcp.close(), this.acp?.close()]);
  }
}

function createAcpEndpoint(
  connect: ConnectAgent,
  { engine }: TenantRuntime,
  { settings, streams, isValid, logger }: SharedServices,
): AcpEndpoint {
  return new AcpEndpoint({
    connect,
    streams,
    isValid,
    logger,
    hasSession: (id) =>
      engine.sessions.get(id).then(
        () => true,
        (error: unknown) => {
          if (error instanceof RequestError && error.code === "not_found") return false;
          throw error;
        },
      ),
    limits: settings.acp,
    maxBodyBytes: settings.maxJsonBytes,
    heartbeatMs: settings.heartbeatMs,
  });
}
