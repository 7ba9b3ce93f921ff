import type { Reason } from "../refusal.ts";

// What the main thread and the two threads with a connection say to each other.

export interface Call {
  name: string;
  args: unknown;
}

export interface ThreadData {
  file: string;
  role: "writer" | "reader" | "searcher";
  /** Whether it has what all tenants share. */
  isShared: boolean;
}

export type Request =
  /** Each call in a savepoint of one transaction. */
  | { id: number; type: "write"; calls: Call[] }
  | { id: number; type: "read"; call: Call }
  | { id: number; type: "close" }
  | { type: "watch"; on: boolean };

export type Result = { ok: true; value: unknown } | { ok: false; reason: Reason };

export type Reply =
  /** The connection is open and the schema up to date, or never will be. */
  | { type: "opened"; result: Result }
  | { type: "done"; id: number; results: Result[] }
  /** Another process has committed something. */
  | { type: "changed" };
