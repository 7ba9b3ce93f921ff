import type { PermissionMode, SessionCreateParams } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import type { ClientServers } from "./client-servers.ts";

export interface AcpAgentOptions {
  /** May still be opening: `initialize` is answered without it. */
  engine: Engine | Promise<Engine>;
  /** The actor recorded in the log for every request of this connection. */
  who: string;
  /** Tandem's version. */
  version: string;
  /** Chooses the agent and the environment of a new session in an existing folder. */
  begin(folder: string): Promise<Pick<SessionCreateParams, "agent" | "environment_id">>;
  /** Holds the MCP servers that clients name; the engine's `sessionServers` reads them there. */
  clientServers: ClientServers;
  /** The mode of sessions that name none. */
  usualMode?: PermissionMode;
  /** Whether this client may save rules for more than the session. */
  mayKeepRules?: boolean;
  /** Whether this client may name MCP servers that are programs on this machine or have private addresses. Default: yes. */
  mayBringPrograms?: boolean;
  /** Whether this client may switch to bypass mode. Default: yes. */
  mayBypass?: boolean;
  /** Whether this client may see a session. Default: every session. */
  owns?(session: string): Promise<boolean>;
  /** Called after this client created a session. */
  opened?(session: string): Promise<void>;
  /** Rejects if another process runs the session: its turns would not be visible here. */
  mayWrite?(session: string): Promise<void>;
  /** Rejects with the next step if there is no login or key to work with. */
  checkLogin?(): Promise<void>;
  /** Reports background errors that belong to no request. */
  onFailure?(error: unknown, what: string): void;
}
