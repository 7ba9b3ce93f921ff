import type { Operation } from "./operation.ts";

/** A SQLite or Postgres database. Operations fail with a `TandemError`; an unreachable database is `unavailable`. */
export interface Database extends AsyncDisposable {
  readonly engine: "sqlite" | "postgres";
  /** Shown to people; without the password. */
  readonly place: string;
  /** Searches use a separate connection or thread: they can be slow and must not block other reads. */
  read<A, T>(operation: Operation<A, T>, args: A, purpose?: "search"): Promise<T>;
  /**
   * Runs in a transaction. Writes of one session keep the order of the calls. Writes that arrive during a commit are
   * batched into the next one.
   */
  write<A, T>(operation: Operation<A, T>, args: A, session?: string): Promise<T>;
  /** Reports changes made by other connections; undefined stops it. Starts with a `resync`. */
  watch(listener: ((notice: ChangeNotice) => void) | undefined): void;
  bytes(): Promise<number>;
  /** Rejects if there is no space for writes. */
  checkSpace(): Promise<void>;
  /** Opens a tenant's tables, creating or migrating them if needed. Only valid on the shared database. */
  tenant(id: string): Promise<Database>;
  /** Deletes the tenant, its tokens and its tables. */
  dropTenant(id: string): Promise<void>;
}

/** Only a hint to re-read the tables. `session` is the owner of a log, so it can also be a job's id. */
export type ChangeNotice =
  /** The session's log has grown to `seq`. */
  | { type: "log"; session: string; seq: number }
  /** The session's input queue (the table `inbox`) has grown to `position`. */
  | { type: "inbox"; session: string; position: number }
  | { type: "gone"; session: string }
  /** The job has ended; its log is complete. */
  | { type: "ended"; session: string }
  /** Changes may have been missed; re-read everything. */
  | { type: "resync" };
