import type { ConnectionErrorCode } from "../connection-error.ts";

/**
 * A `ConnectionError` to be. The processes that read files load nothing of ours that is slow to load, and judges of queries
 * work in both places.
 */
export class Failure extends Error {
  readonly code: ConnectionErrorCode;
  readonly fix: string;

  constructor(code: ConnectionErrorCode, message: string, fix = "") {
    super(message);
    this.code = code;
    this.fix = fix;
  }
}

/** A query that is more than one that reads. */
export function refused(reason: string): Failure {
  return new Failure("query_refused", `The query was refused: ${reason}.`, "Ask with one SELECT that only reads.");
}

/** A query that cannot be understood. */
export function invalid(reason: string): Failure {
  return new Failure("query_failed", `The query is not valid: ${reason.replace(/\.$/, "")}.`, "Correct the query.");
}

export function wrongParameters(wanted: number, given: number): Failure {
  const fix = "Give one value for each `?`; in Postgres, `??` is the operator.";
  return new Failure("query_failed", `The query has ${wanted} parameters, and ${given} were given.`, fix);
}
