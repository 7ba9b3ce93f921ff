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

export type Question =
  /** Answered when the connection is open and migrated. */
  | { type: "open"; data: ThreadData }
  /** Each call runs in its own savepoint of one transaction. */
  | { type: "write"; calls: Call[] }
  | { type: "read"; call: Call }
  | { type: "close" };

export type Request = (Question & { id: number }) | { type: "watch"; on: boolean };

export type Result = { ok: true; value: unknown } | { ok: false; reason: Reason };

export type Reply =
  | { type: "done"; id: number; results: Result[] }
  /** Another process has committed. */
  | { type: "changed" };
