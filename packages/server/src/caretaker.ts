import type { CredentialsReport, Finding, ServerStatus } from "@tandem/protocol";

// How the server is: who answers, who pays, whether it would work. Never a secret, only where one comes from.

/** Knows how the server is, because it has set it up. */
export interface Caretaker {
  /** Looks only; nothing is spent. */
  status(): Promise<ServerStatus>;
  /** All that `tandem doctor` looks at; takes seconds. */
  examine(): Promise<Finding[]>;
  /** What `tandem credentials` says. */
  credentials(): Promise<CredentialsReport>;
}
