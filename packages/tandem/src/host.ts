import type { Variables } from "./config/tandem-home.ts";

/** The process that Tandem runs in. Tandem reads its surroundings from here only, never from `process`. */
export interface Host {
  /** Tandem's own version. */
  version: string;
  cwd: string;
  env: Variables;
  /** Aborted when the process is asked to stop. */
  signal: AbortSignal;
  /** The folder of the project. Default: the nearest folder at or above `cwd` that has a tandem.yaml. */
  project?: string | undefined;
  /** A Claude Code other than the one that ships with Tandem. */
  claudePath?: string | undefined;
  /** A secret that the operator lends to a tenant, under the name that the tenant's config uses: see `openTenantProject`. */
  lent?: { reference: string; read: () => Promise<string> };
  /** Shows a warning to the person who started the process, if there is one. */
  warn?: ((message: string) => void) | undefined;
}
