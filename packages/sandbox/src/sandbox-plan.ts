import type { Processor } from "./seccomp-filter.ts";

/** One path inside: of the host, a generated read-only file, or a symbolic link. */
export type Mount = HostMount | TextMount | LinkMount;

/** A host path that is visible inside. */
export interface HostMount {
  from: string;
  /** Another path inside; else the same path as outside. */
  at?: string;
  access: "read" | "write";
  /** Skipped if the host does not have it. */
  optional?: boolean;
}

interface TextMount {
  text: string;
  at: string;
}

interface LinkMount {
  /** The target, as `ln -s` takes it. */
  link: string;
  at: string;
}

/** Upper bounds for one sandbox. `limitsInForce` says which of them bind on this machine. */
export interface SandboxLimits {
  memoryMb?: number;
  processes?: number;
  /** Open files per process. */
  files?: number;
  /** The largest file that a process may write. */
  fileMb?: number;
  /** The size of the private `/tmp`. */
  tmpMb: number;
}

/** Everything that one sandboxed process can see and use. Later mounts cover earlier ones. */
export interface SandboxPlan {
  /** A private folder of the session, mounted at the path of the host's home. */
  home: { from: string; at: string };
  mounts: readonly Mount[];
  /** Unix sockets of the host, with their path inside (`/run/tandem/api.sock`). */
  sockets: readonly { from: string; at: string }[];
  /** Ports of 127.0.0.1 inside. Each leads to a socket inside. The program does not wait for late ones when it starts. */
  relays: readonly { port: number; to: string; isLate?: boolean }[];
  /** Sockets that programs outside connect to, in a writable mount. Each leads to a port of 127.0.0.1 inside. */
  exposed?: readonly { at: string; port: number }[];
  limits: SandboxLimits;
  /** The OS user that runs the program. Only a server that is root can set it. */
  user?: OsUser;
}

export interface OsUser {
  uid: number;
  gid: number;
}

/** Causes of a missing sandbox. */
export type WallProblem =
  | "unsupported_system"
  | "unsupported_processor"
  | "bubblewrap_missing"
  | "namespaces_forbidden"
  | "namespaces_exhausted"
  | "apparmor_restricts"
  | "setfcap_missing"
  | "proc_masked"
  | "bubblewrap_fails";

/** Whether this machine can run a sandbox. */
export type Wall = WallOn | WallOff;

export interface WallOn {
  on: true;
  /** The path of bubblewrap. */
  bwrap: string;
  /** The path of socat. Without it, the sandbox has no network besides the API. */
  socat?: string;
  /** The path of prlimit. Without it, a sandbox has no limits but the size of `/tmp`. */
  prlimit?: string;
  processor: Processor;
  /** False in gVisor, which lacks the setting that forbids user namespaces. The seccomp filter forbids them there. */
  disablesUserNamespaces: boolean;
}

export interface WallOff {
  on: false;
  code: WallProblem;
  /** One sentence. */
  reason: string;
  fix: string;
}
