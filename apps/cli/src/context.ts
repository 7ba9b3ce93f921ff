import type { Variables } from "./config/tandem-home.ts";

/** What every command gets: the world outside, and the options that all commands share. */
export interface Context {
  /** Tandem's own. */
  version: string;
  cwd: string;
  env: Variables;
  /** A secret that somebody else has lent, under the name by which the config asks for it: see `openTenantProject`. */
  lent?: { reference: string; read: () => Promise<string> };
  /** Aborted by Ctrl-C and SIGTERM. */
  signal: AbortSignal;
  /** From now on, the command may take so long to stop once the signal has fired; then the process ends regardless. */
  allowToStop: (graceMs: number) => void;
  /** From `--project` or TANDEM_PROJECT. */
  project: string | undefined;
  /** From `--claude-path`: a Claude Code other than the one that ships with Tandem. */
  claudePath?: string | undefined;
  json: boolean;
  debug: boolean;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}
