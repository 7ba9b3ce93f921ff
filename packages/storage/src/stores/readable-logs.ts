import { RequestError, TandemError } from "@tandem/protocol";
import type { Database } from "../database.ts";
import { findInvalidBody, readBodies } from "../operations/events.ts";

/** More sessions than a process writes at a time. */
const MOST_REMEMBERED = 10_000;

/**
 * Checks once per process that the log of a session can be read back, before anything is added to it. An acknowledged
 * message in an unreadable log would never be answered.
 */
export class ReadableLogs {
  readonly #database: Database;
  /** Settled checks stay, so that each log is checked once. */
  readonly #checks = new Map<string, Promise<void>>();

  constructor(database: Database) {
    this.#database = database;
  }

  /** Concurrent writes share one check and continue in the order of their calls. */
  ensure(session: string): Promise<void> {
    const known = this.#checks.get(session);
    if (known) return known;
    if (this.#checks.size >= MOST_REMEMBERED) this.#checks.clear();
    const check = this.#check(session);
    this.#checks.set(session, check);
    check.catch(() => this.doubt(session));
    return check;
  }

  /** A read failed: the next write checks the log again. */
  doubt(session: string): void {
    this.#checks.delete(session);
  }

  /** Resolves when no check is under way, so that the writes behind them have begun. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#checks.values());
  }

  async #check(session: string): Promise<void> {
    try {
      if (!(await this.#canRead(session))) throw unreadable(session, "an event is damaged");
    } catch (error) {
      throw isDamage(error) ? unreadable(session, error.message, error) : error;
    }
  }

  async #canRead(session: string): Promise<boolean> {
    if (this.#database.engine === "sqlite") return !(await this.#database.read(findInvalidBody, session));
    await this.#database.read(readBodies, session);
    return true;
  }
}

/** As opposed to an unavailable database, which may be read later. */
const isDamage = (error: unknown): error is TandemError =>
  error instanceof TandemError && (error.code === "not_a_database" || error.code === "storage_failed");

const unreadable = (session: string, why: string, cause?: unknown): RequestError =>
  new RequestError("conflict", `The log of the session ${session} cannot be read, so nothing is added to it: ${why}`, {
    fix: "Restore the database from a copy. Other sessions are not affected.",
    detail: "log_unreadable",
    cause,
  });
