import { TandemError } from "@tandem/protocol";
import { alreadyThere, busy, fullDisk, reasonOf, Refusal, refuse, unavailable } from "../refusal.ts";
import { toTandemError } from "../to-tandem-error.ts";

/** SQLSTATE classes of transient errors of the server; a retry may succeed. */
const PASSING = [
  /^08/, // connection
  /^28/, // login refused
  /^3D000$/, // no such database
  /^53/, // out of connections, memory or disk
  /^57/, // cancelled by a timeout, shutting down, starting up
  /^58/, // input and output
  /^25P0[23]$/, // a transaction that was cut off
];
/** A deadlock, or a lock that was not available in time. The server works. */
const CONTENDED = /^(40|55P03$)/;
const CHECK_URL = "Check the user, the password and the database's name in storage.url or DATABASE_URL.";
const UNIQUE_VIOLATION = "23505";
const FULL = "53100";
const NUL_IN_TEXT = "22021";

// Requires a digit, which every SQLSTATE has; system codes such as EPIPE and EPERM would match otherwise.
const sqlState = (error: unknown): string | undefined =>
  error instanceof Error &&
  "code" in error &&
  typeof error.code === "string" &&
  /^(?=.*\d)[0-9A-Z]{5}$/.test(error.code)
    ? error.code
    : undefined;

/** Whether to discard the connection. Errors without a SQLSTATE did not come from the server. */
export function isConnectionLost(error: unknown): boolean {
  const isOurs = error instanceof Refusal || error instanceof TandemError;
  const state = sqlState(error);
  return !isOurs && (state === undefined || /^(08|57P0|25P03)/.test(state));
}

/** The server answered and refused the login, or has no such database. */
const isMisconfigured = (error: unknown): boolean => /^(28|3D)/.test(sqlState(error) ?? "");

/**
 * Whether Postgres may answer later, for a process that starts while it restarts. A refused login or an unknown database
 * needs a person.
 */
export function isPostgresAway(error: unknown): boolean {
  if (!(error instanceof TandemError) || !["unavailable", "queue_unavailable"].includes(error.code)) return false;
  return error.cause !== undefined && !isMisconfigured(error.cause);
}

/** Undefined table. */
export const isTableMissing = (error: unknown): boolean => sqlState(error) === "42P01";

/** Converts any error of database work for the caller. */
export function translate(error: unknown): TandemError {
  if (error instanceof TandemError) return error;
  return toTandemError(reasonOf(refusalFor(error)), error);
}

function refusalFor(error: unknown): unknown {
  if (error instanceof Refusal) return error;
  const state = sqlState(error);
  if (state === UNIQUE_VIOLATION) return alreadyThere(error);
  if (state === NUL_IN_TEXT) {
    return refuse(
      "invalid_request",
      "Text with a NUL character cannot be looked up or stored here.",
      "Leave the character out.",
    );
  }
  if (state === FULL) return fullDisk(error);
  if (isMisconfigured(error)) return unavailable(messageOf(error), error, CHECK_URL);
  if (state !== undefined && CONTENDED.test(state)) return busy(error);
  if (state === undefined || PASSING.some((pattern) => pattern.test(state))) return unavailable(messageOf(error));
  return error;
}

function messageOf(error: unknown): string {
  // Each address of the host failed; report the first.
  if (error instanceof AggregateError && error.errors[0] instanceof Error) return error.errors[0].message;
  return error instanceof Error && error.message ? error.message : "the connection was lost";
}
