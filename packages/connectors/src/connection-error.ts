import { TandemError } from "@tandem/protocol";

export type ConnectionErrorCode =
  /** The database cannot be reached, or is not there. */
  | "connection_failed"
  /** It is there, and does not let us in. */
  | "connection_refused"
  /** Not one statement that only reads. */
  | "query_refused"
  /** The database did not understand it, or could not do it. */
  | "query_failed"
  | "query_timeout"
  /** A table or column that the query names is not there (any more). */
  | "not_there";

export class ConnectionError extends TandemError {
  declare readonly code: ConnectionErrorCode;

  constructor(code: ConnectionErrorCode, message: string, options: { fix?: string; cause?: unknown } = {}) {
    super(code, message, options);
  }
}
