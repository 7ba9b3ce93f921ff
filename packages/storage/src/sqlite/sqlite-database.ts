import { mkdir, open, rm, stat, statfs } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setImmediate as otherWork, setTimeout as delay } from "node:timers/promises";
import { TandemError } from "@tandem/protocol";
import type { ChangeNotice, Database } from "../database.ts";
import { BatchQueue, type Outcome } from "../threads/batch-queue.ts";
import type { Operation } from "../operation.ts";
import { SCHEMA_VERSION } from "../operations/schema/migrations.ts";
import { deleteTenant, getTenant, markTenant, noSuchTenant, retireTenant } from "../operations/tenants.ts";
import { BUSY, fullDisk, unavailable } from "../refusal.ts";
import { toTandemError } from "../to-tandem-error.ts";
import type { Call, Question, Result, ThreadData } from "./thread-messages.ts";
import { deletes, SqliteWork } from "./sqlite-work.ts";
import { SqliteWorker } from "./sqlite-worker.ts";

/** Most work of commands is done before a second thread has started, so the reader starts late. */
const READER_AFTER_MS = 500;
/** With more work than this in a second, the database gets a thread. */
const MOST_WORK_MS = 100;

/** With less free space, a commit of a usual size fails. */
const LEAST_FREE_BYTES = 256 * 1_024;
/** How long another process may take to create the file. */
const CREATION_MS = 5_000;

/**
 * A SQLite file. At first its calls run in this thread: most commands and an idle server have little to do, and a thread costs
 * 17 MB and as much time as dozens of calls. With more work, or as soon as a call would have to wait, a writer thread takes over for
 * good, so that the event loop is not blocked. A reader thread starts with the first read that has to wait for a commit; until
 * then the writer reads too. A third one starts with the first search.
 */
export class SqliteDatabase implements Database {
  readonly engine = "sqlite";
  readonly place: string;
  readonly #queue = new BatchQueue<Call>((calls) => this.#commit(calls));
  /** Undefined when the writer thread has taken over. */
  #inThisThread: SqliteWork | undefined;
  /** Time of calls in this thread since `#secondFrom`. */
  #workMs = 0;
  #secondFrom = 0;
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
    onWait?.();
    try {
      await database.#open();
      return database;
    } catch (error) {
      await database[Symbol.asyncDispose]();
      throw error;
    }
  }

  async #open(): Promise<void> {
    const data = this.#dataOf("writer");
    const changed = (): void => queueMicrotask(() => this.#changed());
    const work = new SqliteWork(data, { changed, isBrief: true });
    const [opened] = work.answer({ type: "open", data });
    if (opened!.ok) return void (this.#inThisThread = work);
    work.answer({ type: "close" });
    if (!isBusy(opened!)) throw toTandemError(opened!.reason);
    // Another process creates or migrates the file. The thread can wait for that.
    await this.#worker("writer");
  }

  async read<A, T>(operation: Operation<A, T>, args: A, purpose?: "search"): Promise<T> {
    if (this.#closing) throw closed();
    const question: Question = { type: "read", call: { name: operation.name, args } };
    if (this.#inThisThread && !purpose) {
      const [answered] = await this.#answer(this.#inThisThread, question);
      if (!isBusy(answered!)) return valueOf(answered!) as T;
      await this.#moveToThread();
    }
    if (!this.#reader && this.#commits > 0 && performance.now() > this.#readerFrom) this.#startReader();
    const reader = purpose ? await this.#worker("searcher") : (this.#reader ?? (await this.#worker("writer")));
    const [result] = await reader.ask(question);
    return valueOf(result!) as T;
  }

  write<A, T>(operation: Operation<A, T>, args: A): Promise<T> {
    if (this.#closing) return Promise.reject(closed());
    return this.#queue.add({ name: operation.name, args }) as Promise<T>;
  }

  watch(listener: ((notice: ChangeNotice) => void) | undefined): void {
    this.#listener = listener;
    if (this.#closing) return;
    const isOn = listener !== undefined;
    if (this.#inThisThread) this.#inThisThread.watch(isOn);
    // A failed start is reported to the next read or write.
    else {
      const watching = this.#worker("writer").then((writer) => writer.watch(isOn));
      watching.catch(() => {});
    }
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
    await this.#workers.writer?.catch(() => undefined);
    this.#inThisThread?.answer({ type: "close" });
    // Readers first: the last connection to close checkpoints the WAL.
    for (const role of ["searcher", "reader", "writer"] as const) {
      const worker = await this.#workers[role]?.catch(() => undefined);
      await worker?.close().catch(() => undefined);
    }
  }

  async #commit(calls: Call[]): Promise<Outcome[]> {
    this.#commits += 1;
    try {
      const results = await this.#write(calls);
      return results.map((result) => (result.ok ? result : { ok: false, error: toTandemError(result.reason) }));
    } finally {
      this.#commits -= 1;
    }
  }

  /** The thread repeats calls that found the file busy, and can wait. */
  async #write(calls: Call[]): Promise<Result[]> {
    const question: Question = { type: "write", calls };
    const results = this.#inThisThread && (await this.#answer(this.#inThisThread, question));
    if (results && !results.every(isBusy)) {
      if (calls.some(deletes)) this.#moveSoon();
      return results;
    }
    await this.#moveToThread();
    return (await this.#worker("writer")).ask(question);
  }

  /** As from a thread, the caller gets copies, and a loop of calls leaves time for timers and requests. */
  async #answer(work: SqliteWork, question: Question): Promise<Result[]> {
    const from = performance.now();
    if (from - this.#secondFrom > 1_000) [this.#secondFrom, this.#workMs] = [from, 0];
    const results = structuredClone(work.answer(question));
    this.#workMs += performance.now() - from;
    if (this.#workMs > MOST_WORK_MS) this.#moveSoon();
    await otherWork();
    return results;
  }

  /** A failed start is no error: the calls run in this thread instead. */
  #moveSoon(): void {
    this.#moveToThread().catch(() => {});
  }

  /** The calls of this thread are synchronous: when the thread is ready, none is under way. */
  async #moveToThread(): Promise<void> {
    if (!this.#inThisThread) return;
    await this.#worker("writer");
    this.#inThisThread?.answer({ type: "close" });
    this.#inThisThread = undefined;
  }

  #changed(): void {
    this.#listener?.({ type: "resync" });
  }

  #dataOf(role: ThreadData["role"]): ThreadData {
    return { file: this.place, role, isShared: this.#isShared };
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
    const opened: Promise<SqliteWorker> = SqliteWorker.open(this.#dataOf(role), {
      changed: () => this.#changed(),
      ended: forget,
    });
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

/** Nothing came of such a call. */
const isBusy = (result: Result): boolean =>
  !result.ok && result.reason.type === "request" && result.reason.detail === BUSY;

function valueOf(result: Result): unknown {
  if (!result.ok) throw toTandemError(result.reason);
  return result.value;
}
