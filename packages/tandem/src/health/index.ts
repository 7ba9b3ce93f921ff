export type { Finding, ServerProbe } from "./check.ts";
export { examine } from "./examine.ts";
export { lookAtSessions, type SessionsOverview, type StorageState } from "./look-at-sessions.ts";
export { readCredentials, wireReport } from "./read-credentials.ts";
export { takeCare } from "./take-care.ts";
export { type TandemUse } from "./tandem-uses.ts";
