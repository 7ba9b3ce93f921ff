import type { ConnectionErrorCode } from "../connection-error.ts";
import { Failure } from "../reader/failure.ts";

const RESULT = { error: 1, busy: 5, locked: 6, readonly: 8, corrupt: 11, cannotOpen: 14, denied: 23, notADatabase: 26 };

/** Error code of `prepare` for text with only spaces and comments. */
export const NO_STATEMENT = "ERR_INVALID_ARG_VALUE";

/** Converts SQLite's errors. */
export function explainFailure(error: unknown, path: string, denied?: string): Failure {
  if (error instanceof Failure) return error;
  const { errcode, message } = error as { errcode?: number; message: string };
  const make = (code: ConnectionErrorCode, text: string, fix: string): Failure => new Failure(code, text, fix);
  if (denied !== undefined) {
    return make("query_refused", `The query was refused: ${denied}.`, "Ask with one SELECT that only reads.");
  }
  switch ((errcode ?? 0) & 0xff) {
    case RESULT.notADatabase:
      return make(
        "connection_failed",
        `${path} is not a SQLite database.`,
        "Check the path, and the driver named with it.",
      );
    case RESULT.cannotOpen:
      return make(
        "connection_failed",
        `${path} cannot be opened.`,
        "It may have been left with a log (-wal) in a folder that cannot be written: open and close it once with SQLite.",
      );
    case RESULT.corrupt:
      return make("query_failed", `${path} is damaged (${message}).`, "Restore it from a backup.");
    case RESULT.busy:
    case RESULT.locked:
      return make("query_failed", `${path} is locked by a program that writes to it.`, "Try again when it is done.");
    case RESULT.readonly:
      return make(
        "connection_failed",
        `${path} needs a recovery that a reader cannot do (${message}).`,
        "Open and close it once with the program that writes it.",
      );
    case RESULT.denied:
      return make("query_refused", "The query was refused: only a SELECT can be run.", "Ask with one SELECT.");
    default:
  }
  if ((error as NodeJS.ErrnoException).code === NO_STATEMENT) {
    return make("query_refused", "There is no statement.", "Ask with one SELECT.");
  }
  if (/may not be modified/.test(message)) {
    return make("query_refused", "The query was refused: only a SELECT can be run.", "Ask with one SELECT.");
  }
  if (/^no such (table|column)/.test(message)) {
    return make("not_there", `The database says: ${message}.`, "Look at the tables and columns that are there.");
  }
  return make("query_failed", `The database says: ${message}.`, "Correct the query.");
}
