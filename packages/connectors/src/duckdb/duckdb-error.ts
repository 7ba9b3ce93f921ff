import type { ConnectionErrorCode } from "../connection-error.ts";
import { Failure } from "../reader/failure.ts";

const CHECK_PATH = "Check the path; a relative one starts at the project's folder.";
const LOOK = "Look at the tables and columns that are there.";

/** Matches DuckDB's messages, because it has no error codes. */
const KNOWN: readonly [RegExp, ConnectionErrorCode, (path: string, said: string) => string, string][] = [
  [
    /set lock on file/,
    "connection_failed",
    (path) => `${path} is open for writing in another process; DuckDB then locks the file.`,
    "Close it there, or give a copy of the file.",
  ],
  [/database does not exist/, "connection_failed", (path) => `There is no file ${path}.`, CHECK_PATH],
  [/Is a directory/, "connection_failed", (path) => `${path} is not a file.`, "Give the path of a DuckDB file."],
  [
    /Permission denied/,
    "connection_refused",
    (path) => `The file ${path} may not be read by this user.`,
    "Give this user the right to read it.",
  ],
  [
    /not a valid DuckDB|Loading external extensions/,
    "connection_failed",
    (path) => `${path} is not a DuckDB database.`,
    "Check the path, and the driver named with it.",
  ],
  [
    /storage version|newer version|older version/i,
    "connection_failed",
    (path, said) => `${path} was written by another version of DuckDB: ${said}`,
    "Export it there, and import it with this version.",
  ],
  [
    /^Permission Error|read-only mode|configuration has been locked/,
    "query_refused",
    (_, said) => `The database refused the query: ${said}`,
    "Ask with one SELECT over its own tables.",
  ],
  [
    /^Catalog Error: (Table|Schema)|Referenced (column|table)/,
    "not_there",
    (_, said) => `The database says: ${said}`,
    LOOK,
  ],
];

export function explainFailure(error: unknown, path: string): Failure {
  if (error instanceof Failure) return error;
  const message = (error instanceof Error ? error.message : String(error)).split("\n")[0]!.trim();
  const said = message.replace(/^[\w ]+ Error: /, "").replace(/[.!]?$/, ".");
  const found = KNOWN.find(([pattern]) => pattern.test(message));
  if (found) return new Failure(found[1], found[2](path, said), found[3]);
  return new Failure("query_failed", `The database says: ${said}`, "Correct the query.");
}
