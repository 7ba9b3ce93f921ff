import { TandemError } from "@tandem/protocol";

export type ConnectionErrorCode =
  /** The server or file cannot be reached. */
  | "connection_failed"
  /** The server rejects the login. */
  | "connection_refused"
  /** Not a single read-only statement. */
  | "query_refused"
  /** The database could not parse or execute the query. */
  | "query_failed"
  | "query_timeout"
  /** A table or column in the query does not exist. */
  | "not_there";

export class ConnectionError extends TandemError {
  declare readonly code: ConnectionErrorCode;

  constructor(code: ConnectionErrorCode, message: string, options: { fix?: string; cause?: unknown } = {}) {
    super(code, message, options);
  }
}
