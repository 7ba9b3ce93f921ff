import type { ProcessSlots } from "@tandem/claude-code";
import type { Variables } from "./tandem-home.ts";

/** The process that Tandem runs in. Tandem reads its surroundings from here only, never from `process`. */
export interface Host {
  version: string;
  cwd: string;
  env: Variables;
  /** Aborted when the process should stop. */
  signal: AbortSignal;
  /** The folder of the project. Default: the nearest folder at or above `cwd` that has a tandem.yaml. */
  project?: string | undefined;
  /** Replaces the bundled Claude Code. */
  claudePath?: string | undefined;
  /** A secret that the operator lends to a tenant, with the reference used in the tenant's config. See `openTenantProject`. */
  lent?: { reference: string; read: () => Promise<string> };
  /** The OS user of a tenant's programs, if it has one. */
  user?: { uid: number; gid: number };
  /** Limits on Claude Code processes, shared by all tenants of a server. Calls never wait for sessions, nor the reverse. */
  processes?: { sessions: ProcessSlots; calls: ProcessSlots } | undefined;
  /** Shows a warning to the person who started the process, if there is one. */
  warn?: ((message: string) => void) | undefined;
}
