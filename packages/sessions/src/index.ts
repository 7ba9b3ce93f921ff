export type {
  Agents,
  Engine,
  McpServers,
  Trust,
  Environments,
  FeedItem,
  FeedSession,
  Files,
  Model,
  SessionFolder,
  Sessions,
} from "./engine.ts";
export { AccountLimits } from "./fleet/account-limits.ts";
export { createFleet } from "./fleet/create-fleet.ts";
export { DrainRequests } from "./fleet/drain-requests.ts";
export type { Fleet } from "./fleet/fleet.ts";
export type { Approvals } from "./approvals/approvals.ts";
export type { Audit } from "./audit/audit.ts";
export type { WorktreeSettings } from "./worktrees/worktree-maker.ts";
export type { Worktrees } from "./worktrees/worktrees.ts";
export type { History } from "./checkpoints/history.ts";
export type { McpServerView } from "./mcp/tool-definitions.ts";
export type { NamedServer, ServerPlace } from "./mcp/server-place.ts";
export { loadImports } from "./import/load-imports.ts";
export { pinHooks } from "./hooks/pin-hooks.ts";
export { whyNoSandbox } from "./process/sandbox.ts";
export { trustView, type FolderTrust, type TrustView } from "./trust/folder-trust.ts";
export { createEngine } from "./create-engine.ts";
export { FleetMember } from "./fleet/fleet-member.ts";
export type { FleetSettings } from "./fleet/fleet-settings.ts";
export { describePlace, fits, placeWanted } from "./fleet/place.ts";
export type { PreviewSource, PreviewWatch } from "./fleet/preview-source.ts";
export type { SessionRuns } from "./fleet/session-runs.ts";
export type { EngineSettings } from "./engine-settings.ts";
export { KillSwitch } from "./budgets/kill-switch.ts";
export type { Quotas } from "./quotas/quotas.ts";
export { takenNow } from "./quotas/taken-now.ts";
export type { Notifications, NotifySettings } from "./notify/notifier.ts";
export type { Rules, TestedCall, TestedSession } from "./rules/rules.ts";
