import type { Clock } from "@tandem/protocol";

/** Receives warnings about background work that belongs to no request. */
export interface Log {
  warn(details: Record<string, unknown>, message: string): void;
}

/** The server process and the machine that the engine runs in. */
export interface HostSettings {
  stateFolder: string;
  /** Environment variables of the server. */
  hostVariables: Readonly<Record<string, string | undefined>>;
  /** Names this process in leases and in messages about sessions that it holds. */
  holder: string;
  log: Log;
  clock: Clock;
}
