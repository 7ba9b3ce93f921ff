import type { ConnectionErrorCode } from "../connection-error.ts";

/** A `ConnectionError` to be: the process that reads the file loads nothing of ours that is slow to load. */
export class SqliteFailure extends Error {
  readonly code: ConnectionErrorCode;
  readonly fix: string;

  constructor(code: ConnectionErrorCode, message: string, fix = "") {
    super(message);
    this.code = code;
    this.fix = fix;
  }
}
