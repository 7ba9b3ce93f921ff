import type { CredentialsReport, Finding, ServerStatus } from "@tandem/protocol";

/** The server's state and checks, without secrets: only where a credential comes from. */
export interface ServerHealth {
  /** Whether a scripted model answers. */
  demo: boolean;
  /** Makes no paid request. */
  status(): Promise<ServerStatus>;
  /** The checks of `tandem doctor`; takes seconds. */
  examine(): Promise<Finding[]>;
  /** The report of `tandem credentials`. */
  credentials(): Promise<CredentialsReport>;
}
