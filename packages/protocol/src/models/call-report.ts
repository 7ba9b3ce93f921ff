import type { Backend, Role } from "../config/config.ts";
import type { LlmErrorCode } from "../errors/llm-error.ts";
import type { Usage } from "./usage.ts";

/** Who is billed for a call: a Claude login, an API key, a cloud project; `nobody` where none is. */
export type Payer =
  | "claude_login"
  | "claude_oauth_token"
  | "anthropic_api_key"
  | "google_cloud_project"
  | "gateway_key"
  | "nobody";

/** List price in US dollars, or null where the price of a model that was used is not known. */
export type Cost = { usd: number } | null;

/** What one LLM operation took, whether it succeeded or not. Every operation reports exactly once. */
export interface CallReport {
  operation: "text" | "object" | "loop";
  role: Role;
  /** The model as configured; `usageByModel` has the ids that answered. */
  model: string;
  backend: Backend;
  payer: Payer;
  usage: Usage;
  usageByModel: Record<string, Usage>;
  cost: Cost;
  latencyMs: number;
  /** How much of that was spent waiting for a quota, before another try, or for other calls to make room. */
  waitedMs: number;
  /** Model requests that were tried again are counted here; 1 means that nothing had to be. */
  attempts: number;
  outcome: "ok" | "budget" | LlmErrorCode;
}
