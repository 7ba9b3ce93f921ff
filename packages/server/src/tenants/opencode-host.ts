import type { PermissionMode, SessionCreateParams } from "@tandem/protocol";

/** Settings of a tenant's project for opencode's clients. */
export interface OpencodeHost {
  /** The folder of sessions whose client names none. */
  folder: string;
  /** The mode of sessions that name none. */
  usualMode: PermissionMode;
  /** The model of new sessions, or an alias of it. */
  usualModel: string;
  /** Chooses the agent and the environment of a new session in a folder. */
  begin(folder: string): Promise<Pick<SessionCreateParams, "agent" | "environment_id">>;
}
