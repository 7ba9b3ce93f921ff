import type { Operation } from "./operation.ts";

/** A database of either engine. Failures are `TandemError`s; one that cannot be reached is `unavailable`. */
export interface Database extends AsyncDisposable {
  readonly engine: "sqlite" | "postgres";
  /** For people; without a password. */
  readonly place: string;
  /** What is for a search goes a way of its own: it may take long, and nothing else waits for it. */
  read<A, T>(operation: Operation<A, T>, args: A, purpose?: "search"): Promise<T>;
  /**
   * In a transaction: all of it or nothing. Writes of one session are done in the order in which they were asked for, and
   * those that wait while a commit is under way go into the next one together.
   */
  write<A, T>(operation: Operation<A, T>, args: A, session?: string): Promise<T>;
  /** From now on says what other connections do, until it is told to stop with undefined. Begins with a `look`. */
  watch(listener: ((bell: Bell) => void) | undefined): void;
  bytes(): Promise<number>;
  /** A tenant's tables, made or brought up to date if need be. Only of the database that all share. */
  tenant(id: string): Promise<Database>;
  /** The tenant, its tokens and its tables: all that there is of it. */
  dropTenant(id: string): Promise<void>;
}

/** A hint; the tables are the truth. A `session` here is whose log it is: a job's is one like all others. */
export type Bell =
  /** The log of a session reaches to `seq`. */
  | { type: "log"; session: string; seq: number }
  /** The inbox of a session was filled up to `position`. */
  | { type: "inbox"; session: string; position: number }
  | { type: "gone"; session: string }
  /** Nothing more will be added to the log, which is a job's. */
  | { type: "ended"; session: string }
  /** Anything may have happened. */
  | { type: "look" };
