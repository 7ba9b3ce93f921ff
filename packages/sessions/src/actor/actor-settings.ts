import type { TurnSettings } from "../turn/turn-settings.ts";

export interface ActorSettings extends TurnSettings {
  /** How long an idle session keeps its process, in milliseconds. */
  idle: number;
  /** A writer that does not renew its leases for this long loses its sessions. In milliseconds. */
  leaseTtl: number;
  /** How long a turn waits for an unavailable database, in milliseconds. */
  databaseWait?: number;
  /** For the process of a single command: it handles only its own sessions and approvals. */
  ownOnly?: boolean;
}
