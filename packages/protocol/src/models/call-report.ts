import type { Backend, Role } from "../config/llm-config.ts";
import type { LlmErrorCode } from "../errors/llm-error.ts";
import type { Usage } from "./usage.ts";

/** The account billed for a call: a Claude login, an API key, a cloud project, or `nobody`. */
export type Payer =
  | "claude_login"
  | "claude_oauth_token"
  | "anthropic_api_key"
  | "google_cloud_project"
  | "gateway_key"
  | "nobody";

/** List price in US dollars; null if the price of a used model is unknown. */
export type Cost = { usd: number } | null;

/** The report of one LLM operation, successful or not. Every operation reports exactly once. */
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
  /** Time spent waiting for a quota, a retry delay or a free slot. */
  waitedMs: number;
  /** The number of attempts; 1 means no retry. */
  attempts: number;
  outcome: "ok" | "budget" | LlmErrorCode;
  /** Options of the request that had no effect, such as `temperature`. */
  ignored?: readonly { key: string; why: string }[];
}
