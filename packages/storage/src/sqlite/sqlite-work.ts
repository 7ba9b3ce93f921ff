import { workOf } from "../operation.ts";
import "../operations/all.ts";
import { migrate } from "../operations/schema/migrate.ts";
import { SQLITE } from "../operations/schema/migrations.ts";
import { reasonOf, Refusal } from "../refusal.ts";
import { perform } from "../sql-statement.ts";
import { SqliteConnection } from "./sqlite-connection.ts";
import type { Call, Question, Result, ThreadData } from "./thread-messages.ts";

/** Poll interval for commits of other processes. One check takes microseconds. */
const WATCH_MS = 100;
/** How long a brief call waits for another process's transaction. */
const BRIEF_MS = 50;
/** About 4 MB: short enough to fit between two commits. */
const PAGES_FREED_AT_ONCE = 1_000;

interface WorkOptions {
  /** Another process has committed. */
  changed: () => void;
  /** Calls wait only a moment for another process's transaction, and no freed pages are returned to the disk. */
  isBrief?: boolean;
}

/** The calls of one connection to a file. They block. A process has only one writer per file. */
export class SqliteWork {
  readonly #data: ThreadData;
  readonly #options: WorkOptions;
  #opened: SqliteConnection | undefined;
  #watch: NodeJS.Timeout | undefined;
  #freeing: NodeJS.Immediate | undefined;

  constructor(data: ThreadData, options: WorkOptions) {
    this.#data = data;
    this.#options = options;
  }

  /** One result per call; the first question is `open`. */
  answer(question: Question): Result[] {
    switch (question.type) {
      case "open":
        return [attempt(() => this.#open())];
      case "read":
        return [attempt(() => this.#read(question.call))];
      case "write":
        return this.#writeAll(question.calls);
      case "close":
        return [attempt(() => this.#close())];
    }
  }

  watch(on: boolean): void {
    clearInterval(this.#watch);
    if (!on) return;
    let last: unknown;
    const check = (): void => {
      const { dataVersion } = this.#connection;
      // Also report on the first check, for commits made before it.
      if (dataVersion !== last) this.#options.changed();
      last = dataVersion;
    };
    this.#watch = setInterval(() => attempt(check), WATCH_MS).unref();
    attempt(check);
  }

  get #connection(): SqliteConnection {
    const { file, role } = this.#data;
    const busyMs = this.#options.isBrief ? BRIEF_MS : undefined;
    return (this.#opened ??= new SqliteConnection(file, { readOnly: role !== "writer", busyMs }));
  }

  #open(): void {
    // The reader connects lazily: the writer may still be migrating.
    if (this.#data.role !== "writer") return;
    const { isShared } = this.#data;
    const migration = migrate({ ...SQLITE, isShared });
    this.#transaction(() => perform(migration, (statement) => this.#connection.execute(statement)));
    // Left by an earlier connection.
    this.#freeSoon();
  }

  #close(): void {
    clearInterval(this.#watch);
    clearImmediate(this.#freeing);
    this.#opened?.[Symbol.dispose]();
    this.#opened = undefined;
  }

  #read(call: Call): unknown {
    this.#connection.checkFile();
    return this.#work(call);
  }

  #work({ name, args }: Call): unknown {
    return perform(workOf(name, args), (statement) => this.#connection.execute(statement));
  }

  /** An error that rolled back the whole transaction, such as a full disk, fails all its calls. */
  #attemptInside(call: () => unknown): Result {
    const result = attempt(call);
    if (!result.ok && !this.#connection.isInTransaction) throw new Refusal(result.reason);
    return result;
  }

  /** One commit for all calls; a failed call rolls back only its savepoint. */
  #writeAll(calls: readonly Call[]): Result[] {
    const one = (call: Call): Result => this.#attemptInside(() => this.#savepoint(() => this.#work(call)));
    const outcome = attempt(() => this.#transaction(() => calls.map(one)));
    if (calls.some(deletes)) this.#freeSoon();
    return outcome.ok ? outcome.value : calls.map(() => outcome);
  }

  #transaction<T>(body: () => T): T {
    // Take the write lock first: upgrading from read to write can fail with SQLITE_BUSY in spite of the timeout.
    this.#connection.run("begin immediate");
    try {
      const value = body();
      this.#connection.checkFile();
      this.#connection.run("commit");
      return value;
    } catch (error) {
      this.#undo("rollback");
      throw error;
    }
  }

  #savepoint<T>(body: () => T): T {
    this.#connection.run("savepoint one_call");
    try {
      const value = body();
      this.#connection.run("release one_call");
      return value;
    } catch (error) {
      this.#undo("rollback to one_call; release one_call");
      throw error;
    }
  }

  /** Some errors have rolled back already; keep the first error. */
  #undo(text: string): void {
    try {
      this.#connection.run(text);
    } catch {}
  }

  #freeSoon(): void {
    if (!this.#options.isBrief) this.#freeing ??= setImmediate(() => this.#freePages());
  }

  /** Returns freed pages to the disk, between other work. */
  #freePages(): void {
    this.#freeing = undefined;
    const before = this.#connection.freePages;
    this.#undo(`pragma incremental_vacuum(${PAGES_FREED_AT_ONCE})`);
    // No progress: another process is busy, or the file has no auto-vacuum. The pages are reused later.
    if (this.#connection.freePages < before) this.#freeSoon();
  }
}

/** Whether the call leaves pages to return to the disk. */
export const deletes = ({ name }: Call): boolean => name.endsWith(".delete");

function attempt<T>(call: () => T): { ok: true; value: T } | Extract<Result, { ok: false }> {
  try {
    return { ok: true, value: call() };
  } catch (error) {
    return { ok: false, reason: reasonOf(error) };
  }
}
