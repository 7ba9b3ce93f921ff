import { closeSync, existsSync, openSync, readSync, statSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { Failure } from "../reader/failure.ts";

/** A writer with a rollback journal holds its lock only briefly; a longer lock is reported as an error. */
const BUSY_TIMEOUT_MS = 5_000;
/** Limits `zeroblob` and `printf`, which could otherwise allocate a gigabyte. */
const MAX_VALUE_BYTES = 256 * 1_048_576;
const WAL_VERSION_OFFSET = 18;
const WAL_VERSION = 2;

/** State of the file, and how to open it. */
export interface SqliteFile {
  path: string;
  /**
   * The file has no WAL beside it, so no process has it open. Normally SQLite would create two files beside it, which
   * fails in a read-only folder. Opened as immutable, it creates none; this is valid while `identity` is unchanged.
   */
  isQuiet: boolean;
  identity: string;
}

export function inspectFile(path: string): SqliteFile {
  try {
    const stats = statSync(path, { bigint: true });
    if (!stats.isFile()) throw failed(`${path} is not a file.`, "Give the path of a SQLite database file.");
    const hasLog = existsSync(`${path}-wal`);
    const isQuiet = !hasLog && usesLog(path);
    const identity = [stats.dev, stats.ino, isQuiet, ...(isQuiet ? [stats.mtimeNs, stats.size] : [])].join(":");
    return { path, isQuiet, identity };
  } catch (error) {
    if (error instanceof Failure) throw error;
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw failed(`There is no file ${path}.`, "Check the path; a relative one starts at the project's folder.");
    }
    if (code === "EACCES" || code === "EPERM") {
      const fix = "Give this user the right to read it.";
      throw new Failure("connection_refused", `The file ${path} may not be read by this user.`, fix);
    }
    throw failed(`The file ${path} cannot be read (${code ?? String(error)}).`, "Check the path and the disk.");
  }
}

/** Read-only in SQLite itself: blocks writes even without the guard. */
export function openFile(file: SqliteFile): DatabaseSync {
  const url = pathToFileURL(file.path);
  if (file.isQuiet) url.searchParams.set("immutable", "1");
  const database = new DatabaseSync(file.isQuiet ? url : file.path, {
    readOnly: true,
    timeout: BUSY_TIMEOUT_MS,
    allowExtension: false,
    limits: { length: MAX_VALUE_BYTES, attach: 0 },
  });
  database.enableDefensive(true);
  return database;
}

function usesLog(path: string): boolean {
  const header = Buffer.alloc(WAL_VERSION_OFFSET + 2);
  const descriptor = openSync(path, "r");
  try {
    readSync(descriptor, header, 0, header.length, 0);
  } finally {
    closeSync(descriptor);
  }
  return header[WAL_VERSION_OFFSET] === WAL_VERSION;
}

function failed(message: string, fix: string): Failure {
  return new Failure("connection_failed", message, fix);
}
