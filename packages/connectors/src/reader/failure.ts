import type { ConnectionErrorCode } from "../connection-error.ts";

/** Data for a `ConnectionError`. Reader processes avoid slow imports, and query checks run in both places. */
export class Failure extends Error {
  readonly code: ConnectionErrorCode;
  readonly fix: string;

  constructor(code: ConnectionErrorCode, message: string, fix = "") {
    super(message);
    this.code = code;
    this.fix = fix;
  }
}

/** The query is more than a read-only statement. */
export function refused(reason: string): Failure {
  return new Failure("query_refused", `The query was refused: ${reason}.`, "Ask with one SELECT that only reads.");
}

/** The query cannot be parsed. */
export function invalid(reason: string): Failure {
  return new Failure("query_failed", `The query is not valid: ${reason.replace(/\.$/, "")}.`, "Correct the query.");
}

export function wrongParameters(wanted: number, given: number): Failure {
  const fix = "Give one value for each `?`; in Postgres, `??` is the operator.";
  return new Failure("query_failed", `The query has ${wanted} parameters, and ${given} were given.`, fix);
}
