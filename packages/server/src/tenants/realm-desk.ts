import { RequestError } from "@tandem/protocol";
import type { TokenRow, TokenStore } from "@tandem/storage";
import { AcpDoor, CONNECTION_HEADER, type ConnectAgent } from "../acp/net/acp-door.ts";
import { Forwarder } from "../fleet/forwarder.ts";
import { Roster } from "../fleet/roster.ts";
import { Switchboard } from "../fleet/switchboard.ts";
import type { Logger } from "../http/create-logger.ts";
import type { FileRoom } from "../http/file-room.ts";
import { RouteRunner } from "../http/run-route.ts";
import type { ServerSettings } from "../http/settings.ts";
import type { OpenStreams } from "../http/sse/open-streams.ts";
import { SessionHubs } from "../http/sse/session-hubs.ts";
import type { Metrics } from "../metrics/metrics.ts";
import { McpClients, MCP_HEADER } from "../mcp/mcp-clients.ts";
import type { Realm } from "./realm.ts";
import type { TenantOffice } from "./tenant-office.ts";

/** What all realms of a server share: limits of the process, and nothing of anybody. */
export interface SharedParts {
  settings: ServerSettings;
  streams: OpenStreams;
  room: FileRoom;
  version: string;
  /** Whether a token that was valid still is. */
  isValid: (token: TokenRow) => Promise<boolean>;
  logger: Logger;
  /** Undefined where nobody counts. */
  metrics?: Metrics | undefined;
}

/** Answers requests of one tenant, and knows no other. */
export class RealmDesk {
  readonly realm: Realm;
  readonly runner: RouteRunner;
  readonly mcp: McpClients;
  /** Undefined where there is no ACP. */
  readonly acp: AcpDoor | undefined;
  /** For conversations that this process has nothing to say in. */
  readonly lines: { acp?: Switchboard; mcp?: Switchboard };

  /** `tokens` are those that the tenant may see; `office` is the operator's alone. */
  constructor(realm: Realm, shared: SharedParts, { tokens, office }: { tokens: TokenStore; office?: TenantOffice }) {
    const { engine, context, caretaker, tenant, standing } = realm;
    const { settings, streams, room, version, isValid, logger, metrics } = shared;
    this.realm = realm;
    const hubs = new SessionHubs({
      ...{ sessions: engine.sessions, settings, logger },
      onReceive: metrics && ((logged) => metrics.received(logged)),
    });
    const { fleet } = realm;
    const roster = fleet && new Roster(fleet.store.workers);
    const hasContext = context !== undefined;
    const forwarder =
      fleet && roster && new Forwarder(fleet, { roster, limits: settings, logger, tenant: tenant.id, hasContext });
    const line = (idHeader: string): Switchboard | undefined =>
      fleet?.role === "server" && roster ? new Switchboard({ roster, tenant: tenant.id, idHeader, logger }) : undefined;
    this.lines = { acp: line(CONNECTION_HEADER), ...(!hasContext && { mcp: line(MCP_HEADER) }) };
    this.runner = new RouteRunner({
      ...{ engine, context, caretaker, tokens, settings, hubs, streams, room, logger },
      ...{ tenant, standing, office, forwarder },
    });
    this.mcp = new McpClients({ context, version, isValid, checkMs: settings.heartbeatMs, logger });
    this.acp = realm.acp && createAcpDoor(realm.acp, realm, shared);
  }

  async close(): Promise<void> {
    this.lines.acp?.close();
    await Promise.all([this.mcp.close(), this.acp?.close()]);
  }
}

function createAcpDoor(
  connect: ConnectAgent,
  { engine }: Realm,
  { settings, streams, isValid, logger }: SharedParts,
): AcpDoor {
  return new AcpDoor({
    ...{ connect, streams, isValid, logger },
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
