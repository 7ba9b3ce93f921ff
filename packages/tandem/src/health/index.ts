export type { ServerProbe } from "./check.ts";
export { runHealthChecks } from "./run-health-checks.ts";
export { sandboxNotice } from "./sandbox-notice.ts";
export { describeSandbox, readSandboxOverview } from "./sandbox-overview.ts";
export {
  readSandboxState,
  readSessionsOverview,
  type SessionsOverview,
  type StorageState,
} from "./sessions-overview.ts";
export { readCredentials, wireReport } from "./read-credentials.ts";
export { createServerHealth } from "./create-server-health.ts";
