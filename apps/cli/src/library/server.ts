import { openTandem as open } from "@tandem/tandem";

/** Options of the server in your own program. */
export interface ServerOptions {
  /** The folder of the project. A folder without a tandem.yaml uses the defaults. */
  project: string;
  /** The environment variables that Tandem reads, such as TANDEM_HOME and `env:` secrets. Pass `process.env` for all. */
  env: Readonly<Record<string, string | undefined>>;
  /** Replaces `server.port` of the config. 0 takes a free port. */
  port?: number | undefined;
  /** An abort asks the server to stop: `stopRequested` then aborts too. */
  signal?: AbortSignal | undefined;
  /** Gets each line of the server's log, as JSON. The log file in TANDEM_HOME is written in any case. */
  log?: ((line: string) => void) | undefined;
  /** Replaces the Claude Code that is installed with Tandem. */
  claudePath?: string | undefined;
}

/** A running server. Closing it ends turns within `server.stopWithin` and leaves no process behind. */
export interface Tandem extends AsyncDisposable {
  readonly url: string;
  readonly logFile: string;
  /** A problem with the server's own token file that the user should see. */
  readonly warning: string | undefined;
  /** Aborted by `signal`, or when a fleet asks this process to drain. The caller then calls `close`. */
  readonly stopRequested: AbortSignal;
  /** Creates an API token and returns its secret. Default scope: `run`. `admin` also creates agents and environments. */
  createToken(name: string, options?: { scopes?: readonly ("read" | "run" | "admin")[] }): Promise<string>;
  /** A sign-in link to the page, valid once and for ten minutes. */
  signInLink(): Promise<string>;
  /** Safe to call more than once. */
  close(): Promise<void>;
}

/** Starts the server in this process. It writes nothing to standard output and never ends the process. */
export const openTandem = ({ signal = new AbortController().signal, ...options }: ServerOptions): Promise<Tandem> =>
  open({ signal, ...options });
