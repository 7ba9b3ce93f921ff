import { statSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { alreadyThere, busy, fullDisk, Refusal, unavailable } from "../refusal.ts";
import type { Sql } from "../sql-statement.ts";

/** Wait for another process's transaction; nearly all are short. */
const BUSY_TIMEOUT_MS = 5_000;
/** The WAL is truncated to this size after a burst. */
const WAL_LIMIT_BYTES = 16 * 1_048_576;
const PREPARED = 256;

const RESULT = { busy: 5, locked: 6, readonly: 8, io: 10, corrupt: 11, full: 13, cannotOpen: 14, notADatabase: 26 };
const CONSTRAINT_PRIMARY_KEY = 1_555;
const CONSTRAINT_UNIQUE = 2_067;

/** One synchronous connection: every call blocks. */
export class SqliteConnection implements Disposable {
  readonly #database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #file: string;
  readonly #identity: string | undefined;

  constructor(file: string, options: { readOnly: boolean; busyMs?: number | undefined }) {
    this.#file = file;
    const { readOnly, busyMs: timeout = BUSY_TIMEOUT_MS } = options;
    this.#database = open(timeout, () => new DatabaseSync(file, { readOnly, timeout }));
    this.#identity = identityOf(file);
    this.#database.function("now_ms", () => BigInt(Date.now()));
    if (readOnly) return;
    // Must be set before the first table exists. Lets deleted pages be returned to the disk.
    open(timeout, () => this.#database.exec("pragma auto_vacuum = incremental"));
    // `busy_timeout` does not cover this pragma when two processes create the file at once, so retry ourselves.
    open(timeout, () => this.#database.exec("pragma journal_mode = wal"));
    this.#database.exec("pragma synchronous = full");
    this.#database.exec("pragma secure_delete = on");
    this.#database.exec(`pragma journal_size_limit = ${WAL_LIMIT_BYTES}`);
  }

  execute(statement: Sql): unknown[] {
    try {
      return this.#prepare(statement.parts.join("?")).all(...statement.values);
    } catch (error) {
      throw translate(error);
    }
  }

  run(text: string): void {
    try {
      this.#database.exec(text);
    } catch (error) {
      throw translate(error);
    }
  }

  get isInTransaction(): boolean {
    return this.#database.isTransaction;
  }

  /** Changes when another connection commits. */
  get dataVersion(): unknown {
    return this.#prepare("pragma data_version").get()?.["data_version"];
  }

  get freePages(): number {
    return Number(this.#prepare("pragma freelist_count").get()?.["freelist_count"]);
  }

  /**
   * Throws if the file was deleted or replaced. SQLite would not notice and keep writing to the unlinked file; every
   * acknowledged write would be lost with this process.
   */
  checkFile(): void {
    if (identityOf(this.#file) === this.#identity) return;
    throw unavailable("its file has been removed or replaced; put it back, or restart with the current file");
  }

  [Symbol.dispose](): void {
    // Closing checkpoints the WAL at the path, which must not touch a foreign file.
    if (identityOf(this.#file) === this.#identity) this.#database.close();
  }

  #prepare(text: string): StatementSync {
    const found = this.#statements.get(text);
    if (found) return found;
    const made = this.#database.prepare(text);
    this.#statements.set(text, made);
    const [oldest] = this.#statements.keys();
    if (this.#statements.size > PREPARED) this.#statements.delete(oldest!);
    return made;
  }
}

/** Retries while another process creates the file. */
function open<T>(timeoutMs: number, attempt: () => T): T {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return attempt();
    } catch (error) {
      if (resultOf(error) !== RESULT.busy || performance.now() > deadline) throw translate(error);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}

function identityOf(file: string): string | undefined {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino}`;
}

const errcode = (error: unknown): number =>
  error instanceof Error && "errcode" in error && typeof error.errcode === "number" ? error.errcode : 0;

/** The low byte is the primary result code. */
const resultOf = (error: unknown): number => errcode(error) % 256;

function translate(error: unknown): unknown {
  const detail = errcode(error);
  if (detail === CONSTRAINT_PRIMARY_KEY || detail === CONSTRAINT_UNIQUE) return alreadyThere(error);
  switch (resultOf(error)) {
    case RESULT.busy:
    case RESULT.locked:
      return busy(error);
    case RESULT.full:
      return fullDisk(error);
    case RESULT.readonly:
    case RESULT.io:
    case RESULT.cannotOpen:
      return unavailable(error instanceof Error ? error.message : "its file cannot be read or written", error);
    case RESULT.corrupt:
    case RESULT.notADatabase:
      return new Refusal({
        type: "tandem",
        code: "not_a_database",
        message: "The file is not a database, or is damaged.",
        fix: "Name another file, or put a copy back in its place.",
      });
    default:
      return error;
  }
}
