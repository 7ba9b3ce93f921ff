export type { Caretaker, ServerStatus } from "./caretaker.ts";
export { createLogger, type Logger } from "./http/create-logger.ts";
export { createToken } from "./http/create-token.ts";
export { ensureToken } from "./http/ensure-token.ts";
export { defaultSettings, type ServerSettings } from "./http/settings.ts";
export { startServer, type RunningServer } from "./http/start-server.ts";
export { serveMcpStdio } from "./mcp/serve-mcp-stdio.ts";
export type { ServedContext } from "./served-context.ts";
export { startTelemetry, type Telemetry } from "./telemetry/start-telemetry.ts";
