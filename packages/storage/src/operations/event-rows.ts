import type { Lease } from "../lease.ts";
import type { AnnouncementRow } from "./announcements.ts";
import type { ChangeRow, ThreadInput } from "./session-rows.ts";

/** Inserts of up to this many rows use prepared statements; a turn's batches are rarely larger. */
export const PREPARED_ROWS = 16;

/** An event as stored: `body` holds the fields that have no column. */
export interface EventRow {
  id: string;
  thread: string | null;
  type: string;
  at: number | null;
  /** 1 if it is shown on the primary thread. */
  shown: number;
  body: string;
}

export type LoggedRow = EventRow & { seq: number };

export interface AppendArgs {
  lease: Lease;
  rows: EventRow[];
  taken: readonly string[];
  threads: readonly ThreadInput[];
  change: ChangeRow | undefined;
  announce: readonly AnnouncementRow[];
}
