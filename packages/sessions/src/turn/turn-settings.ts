import type { ProcessSettings } from "../process/process-settings.ts";

export interface QuotaSettings {
  action: "stop" | "wait";
  /** How often one turn may wait for a reset. */
  windows: number;
}

export interface TurnSettings extends ProcessSettings {
  /** Whether a turn whose process or server died ends with an error or resumes. */
  recovery: "stop" | "resume";
  /** Default for sessions without a setting of their own: whether a turn that hits a quota with a reset time waits. */
  quota?: QuotaSettings;
}
