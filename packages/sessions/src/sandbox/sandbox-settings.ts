import type { SandboxMode } from "@tandem/protocol";
import type { EgressOptions } from "@tandem/sandbox";

/** The `sandbox` section of the configuration, with absolute paths and readable secrets. */
export interface SandboxSettings {
  mode: SandboxMode;
  /** Patterns of hosts that sessions may connect to. */
  hosts?: readonly string[];
  mounts?: readonly { path: string; write: boolean }[];
  /** Loopback ports inside that lead to loopback ports of this machine. */
  services?: readonly { port: number; to: number }[];
  /** Loopback ports inside that the user's browser can open. */
  ports?: readonly number[];
  limits?: { memoryMb?: number; processes?: number; files?: number; fileMb?: number };
  /** The proxy adds them to requests to their host. Read for each process. */
  credentials?: readonly SandboxCredential[];
  /** The socket of the ssh agent, if sessions may use it. */
  sshAgent?: string;
  /** The proxy of this machine's network gets names instead of addresses that were checked. */
  proxyNames?: boolean;
  /** The OS user of the sessions' programs, if the server is root. */
  user?: { uid: number; gid: number };
  /** Replaces names, addresses and roots of the proxy, in tests. */
  internet?: Pick<EgressOptions, "resolve" | "isPrivate" | "ca">;
}

interface SandboxCredential {
  host: string;
  /** A header that gets the value, or a variable with a placeholder that is replaced in headers. */
  place: { type: "header"; name: string } | { type: "variable"; name: string };
  value: () => Promise<string>;
}
