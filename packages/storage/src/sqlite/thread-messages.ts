import type { Reason } from "../refusal.ts";

// Messages between the main thread and the SQLite threads.

export interface Call {
  name: string;
  args: unknown;
}

export interface ThreadData {
  file: string;
  role: "writer" | "reader" | "searcher";
  /** Whether the file contains the shared tables. */
  isShared: boolean;
}

export type Request =
  /** Answered when the connection is open and migrated. */
  | { id: number; type: "open"; data: ThreadData }
  /** Each call runs in its own savepoint of one transaction. */
  | { id: number; type: "write"; calls: Call[] }
  | { id: number; type: "read"; call: Call }
  | { id: number; type: "close" }
  | { type: "watch"; on: boolean };

export type Result = { ok: true; value: unknown } | { ok: false; reason: Reason };

export type Reply =
  | { type: "done"; id: number; results: Result[] }
  /** Another process has committed. */
  | { type: "changed" };
