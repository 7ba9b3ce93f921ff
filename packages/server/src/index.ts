export { ClientServers, type ClientServer } from "./acp/client-servers.ts";
export type { ConnectAgent } from "./acp/net/acp-door.ts";
export { connectAgents } from "./acp/net/connect-agents.ts";
export type { Caretaker, ServerStatus } from "./caretaker.ts";
export type { CredentialsReport } from "./credentials-report.ts";
export type { FleetSeat } from "./fleet/fleet-seat.ts";
export { RemotePreviews } from "./fleet/remote-previews.ts";
export { createLogger, type Logger } from "./http/create-logger.ts";
export { createToken } from "./http/create-token.ts";
export { ensureToken } from "./http/ensure-token.ts";
export { defaultSettings, type ServerSettings } from "./http/settings.ts";
export { startServer, type RunningServer, type ServerParts } from "./http/start-server.ts";
export { createMetrics } from "./metrics/create-metrics.ts";
export type { Metrics } from "./metrics/metrics.ts";
export { serveMetrics } from "./metrics/serve-metrics.ts";
export { serveMcpStdio } from "./mcp/serve-mcp-stdio.ts";
export type { ServedContext } from "./served-context.ts";
export { startErrorLine } from "./stdio/line-error.ts";
export { openPrivateWire } from "./stdio/private-wire.ts";
export { serveStdio } from "./stdio/serve-stdio.ts";
export { stdioSchema } from "./stdio/stdio-schema.ts";
export type { Wire } from "./stdio/wire.ts";
export { startTelemetry, type Telemetry } from "./telemetry/start-telemetry.ts";
export type { Realm, Realms } from "./tenants/realm.ts";
export {
  tenantInUse,
  tenantView,
  type TenantOffice,
  type TenantUse,
  type TenantView,
  type UpdateTenant,
} from "./tenants/tenant-office.ts";
