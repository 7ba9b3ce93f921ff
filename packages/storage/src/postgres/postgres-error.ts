import { RequestError, TandemError } from "@tandem/protocol";
import { alreadyThere, storageFailed, unavailable } from "../wire-error.ts";

/** Classes of SQLSTATE that say that the server, not the statement, is in trouble: it may be better in a moment. */
const PASSING = [
  /^08/, // connection
  /^28/, // login refused
  /^3D000$/, // no such database
  /^40/, // deadlock
  /^53/, // out of connections, memory or disk
  /^55P03$/, // lock not available
  /^57/, // cancelled by a timeout, shutting down, starting up
  /^58/, // input and output
  /^25P0[23]$/, // a transaction that was cut off
];
const UNIQUE_VIOLATION = "23505";
const NUL_IN_TEXT = "22021";

const sqlState = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" && /^[0-9A-Z]{5}$/.test(error.code)
    ? error.code
    : undefined;

/** Whether the connection is of no use any more. What carries no SQLSTATE did not come from the server. */
export function isConnectionLost(error: unknown): boolean {
  const cause = error instanceof TandemError ? error.cause : error;
  const state = sqlState(cause);
  return cause !== undefined && (state === undefined || /^(08|57P0|25P03)/.test(state));
}

export function translate(error: unknown): unknown {
  if (error instanceof TandemError) return error;
  const state = sqlState(error);
  if (state === UNIQUE_VIOLATION) return alreadyThere(error);
  if (state === NUL_IN_TEXT) {
    return new RequestError("invalid_request", "Text with a NUL character cannot be looked up or stored here.", {
      fix: "Leave the character out.",
    });
  }
  if (state === undefined || PASSING.some((pattern) => pattern.test(state))) {
    return unavailable(reasonOf(error), error);
  }
  return storageFailed(error);
}

function reasonOf(error: unknown): string {
  // Several addresses of one host were tried.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error instanceof Error && error.message ? error.message : "the connection was lost";
}
