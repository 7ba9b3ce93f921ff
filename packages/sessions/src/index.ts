export type {
  Agents,
  Engine,
  Environments,
  FeedItem,
  FeedSession,
  Files,
  Model,
  SessionFolder,
  Sessions,
} from "./engine.ts";
export type { Approvals } from "./approvals/approvals.ts";
export type { Audit } from "./audit/audit.ts";
export { createEngine } from "./create-engine.ts";
export type { EngineSettings } from "./engine-settings.ts";
