import { mkdir, open, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { TandemError } from "@tandem/protocol";
import type { ChangeNotice, Database } from "../database.ts";
import { BatchQueue, type Outcome } from "../threads/batch-queue.ts";
import type { Operation } from "../operation.ts";
import { SCHEMA_VERSION } from "../operations/schema/migrations.ts";
import { deleteTenant, getTenant, markTenant, noSuchTenant, retireTenant } from "../operations/tenants.ts";
import { fullDisk, unavailable } from "../refusal.ts";
import { toTandemError } from "../to-tandem-error.ts";
import type { Call, Result, ThreadData } from "./thread-messages.ts";
import { SqliteWorker } from "./sqlite-worker.ts";

/** Most commands finish before a second thread has started, so the reader starts late. */
const READER_AFTER_MS = 500;

/** With less free space, a commit of a usual size fails. */
const LEAST_FREE_BYTES = 256 * 1_024;
/** How long another process may take to create the file. */
const CREATION_MS = 5_000;

/**
 * A SQLite file with a writer thread and a reader thread: neither blocks the event loop, and reads never wait for a
 * commit's fsync. The reader starts with the first read that has to wait for a commit; until then the writer reads too, and
 * an idle server has one thread. A third one starts with the first search.
 */
export class SqliteDatabase implements Database {
  readonly engine = "sqlite";
  readonly place: string;
  readonly #queue = new BatchQueue<Call>((calls) => this.#commit(calls));
  readonly #workers: { [role in ThreadData["role"]]?: Promise<SqliteWorker> } = {};
  /** Undefined until the reader thread has started. */
  #reader: SqliteWorker | undefined;
  readonly #readerFrom = performance.now() + READER_AFTER_MS;
  #commits = 0;
  #listener: ((notice: ChangeNotice) => void) | undefined;
  #closing: Promise<void> | undefined;

  readonly #isShared: boolean;

  private constructor(file: string, isShared: boolean) {
    this.place = file;
    this.#isShared = isShared;
  }

  static async open(file: string, onWait?: () => void, isShared = true): Promise<SqliteDatabase> {
    try {
      await mkdir(dirname(file), { recursive: true, mode: 0o700 });
      if (!(await create(file))) await refuseEmpty(file);
    } catch (error) {
      if (error instanceof TandemError) throw error;
      throw toTandemError(unavailable(error instanceof Error ? error.message : `${file} cannot be made`).reason, error);
    }
    const database = new SqliteDatabase(file, isShared);
    const writer = database.#worker("writer");
    onWait?.();
    try {
      await writer;
      return database;
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw error;
    }
  }

  async read<A, T>(operation: Operation<A, T>, args: A, purpose?: "search"): Promise<T> {
    if (this.#closing) throw closed();
    if (!this.#reader && this.#commits > 0 && performance.now() > this.#readerFrom) this.#startReader();
    const reader = purpose ? await this.#worker("searcher") : (this.#reader ?? (await this.#worker("writer")));
    const [result] = await reader.ask({ type: "read", call: { name: operation.name, args } });
    return valueOf(result!) as T;
  }

  write<A, T>(operation: Operation<A, T>, args: A): Promise<T> {
    if (this.#closing) return Promise.reject(closed());
    return this.#queue.add({ name: operation.name, args }) as Promise<T>;
  }

  watch(listener: ((notice: ChangeNotice) => void) | undefined): void {
    this.#listener = listener;
    if (this.#closing) return;
    // A failed start is reported to the next read or write.
    this.#worker("writer").then(
      (writer) => writer.watch(this.#listener !== undefined),
      () => {},
    );
  }

  async tenant(id: string): Promise<Database> {
    const row = await this.read(getTenant, id);
    if (!row || row.schema < 0) throw toTandemError(noSuchTenant(id).reason);
    const database = await SqliteDatabase.open(this.#tenantFile(id), undefined, false);
    if (row.schema < SCHEMA_VERSION) await this.write(markTenant, { id, schema: SCHEMA_VERSION });
    return database;
  }

  /**
   * Delete the file before the row: an interrupted deletion can be repeated, and a new tenant of this id finds no old
   * data.
   */
  async dropTenant(id: string): Promise<void> {
    await this.write(retireTenant, id);
    for (const suffix of ["", "-wal", "-shm"]) await rm(this.#tenantFile(id) + suffix, { force: true });
    await this.write(deleteTenant, id);
  }

  /** Includes this file's name, because another database in the folder may have a tenant of the same id. */
  #tenantFile(id: string): string {
    return join(`${this.place.replace(/\.db$/, "")}.tenants`, `${id}.db`);
  }

  async bytes(): Promise<number> {
    const sizes = await Promise.all(
      ["", "-wal", "-shm"].map((suffix) =>
        stat(this.place + suffix).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }

  async checkSpace(): Promise<void> {
    const { bavail, bsize } = await statfs(dirname(this.place));
    if (bavail * bsize < LEAST_FREE_BYTES) throw toTandemError(fullDisk().reason);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    await this.#queue.drained();
    // Readers first: the last connection to close checkpoints the WAL.
    for (const role of ["searcher", "reader", "writer"] as const) {
      const worker = await this.#workers[role]?.catch(() => undefined);
      await worker?.close().catch(() => undefined);
    }
  }

  async #commit(calls: Call[]): Promise<Outcome[]> {
    this.#commits += 1;
    try {
      const writer = await this.#worker("writer");
      const results = await writer.ask({ type: "write", calls });
      return results.map((result) => (result.ok ? result : { ok: false, error: toTandemError(result.reason) }));
    } finally {
      this.#commits -= 1;
    }
  }

  /** The next reads use it as soon as it is open. */
  #startReader(): void {
    this.#worker("reader").then(
      (reader) => (this.#reader = reader),
      () => {},
    );
  }

  /** A crashed thread is replaced on the next use. */
  #worker(role: ThreadData["role"]): Promise<SqliteWorker> {
    const found = this.#workers[role];
    if (found) return found;
    const forget = (): void => {
      if (this.#workers[role] === opened) delete this.#workers[role];
      if (role === "reader") this.#reader = undefined;
    };
    const opened: Promise<SqliteWorker> = SqliteWorker.open(
      { file: this.place, role, isShared: this.#isShared },
      { changed: () => this.#listener?.({ type: "resync" }), ended: forget },
    );
    this.#workers[role] = opened;
    opened.then((worker) => role === "writer" && this.#listener && worker.watch(true), forget);
    return opened;
  }
}

/** False if the file exists. SQLite copies its mode to the side files. */
async function create(file: string): Promise<boolean> {
  try {
    await (await open(file, "wx", 0o600)).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/**
 * SQLite takes an empty file for a new database: one that was truncated would look as if all sessions were gone. Another
 * process may be creating it right now.
 */
async function refuseEmpty(file: string): Promise<void> {
  for (const deadline = performance.now() + CREATION_MS; ; await delay(20)) {
    const { size, mtimeMs } = await stat(file);
    if (size > 0) return;
    if (performance.now() < deadline && Date.now() - mtimeMs < CREATION_MS) continue;
    throw new TandemError("not_a_database", `The database ${file} is an empty file: its content is lost.`, {
      fix: "Put a copy back in its place, or delete the file to begin with an empty database.",
    });
  }
}

const closed = (): Error => toTandemError(unavailable("it has been closed").reason);

function valueOf(result: Result): unknown {
  if (!result.ok) throw toTandemError(result.reason);
  return result.value;
}
