import type { Rehearsal } from "@tandem/rehearsal";
import type { ToolScript } from "./tool-script.ts";
import type { Faults } from "./faults.ts";
import type { WebhookInbox } from "./webhook-inbox.ts";

/** Time as the server sees it. It runs, and moves forward when told. */
export interface EmulatorClock {
  /** Milliseconds since 1970. */
  now(): number;
  advance(ms: number): void;
  moveTo(time: Date): void;
}

/** The Managed Agents API on a scratch store, with a scripted model. Every emulator is separate from all others. */
export interface Emulator extends AsyncDisposable {
  /** `baseURL` of the official client. */
  readonly url: string;
  readonly apiKey: string;
  /** For programs that read their settings from the environment. */
  readonly variables: { ANTHROPIC_BASE_URL: string; ANTHROPIC_API_KEY: string };
  /** The model: its script, the requests that it got, and those that no reply fitted. */
  readonly model: Rehearsal;
  /** Schedules, expiries, retries and quotas follow this clock. Real Claude Code does not. */
  readonly clock: EmulatorClock;
  readonly faults: Faults;
  /** Answers of built-in tools. */
  readonly tools: ToolScript;
  /** Receives webhooks. Create an endpoint with its URL. */
  readonly webhooks: WebhookInbox;
  /** The folder of sessions in `env_local`. */
  readonly folder: string;
  /** Restarts the server on the same store and address. `kill`: without any last write, as after a crash. */
  restart(how?: "stop" | "kill"): Promise<void>;
  close(): Promise<void>;
}
