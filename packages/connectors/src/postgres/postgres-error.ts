import { ConnectionError, type ConnectionErrorCode } from "../connection-error.ts";
import { Failure } from "../reader/failure.ts";
import type { ServerAddress } from "../server-address.ts";
import { networkError } from "../network-error.ts";

/** Converts errors of Postgres or the network. Keeps no cause: a library's error may contain the password. */
export function toConnectionError(error: unknown, address: ServerAddress): ConnectionError {
  if (error instanceof ConnectionError) return error;
  if (error instanceof Failure) return new ConnectionError(error.code, error.message, { fix: error.fix });
  const { code = "", message = String(error) } = error as { code?: string; message?: string };
  const said = address.hide(message).replace(/\.?$/, ".");
  const make = (ours: ConnectionErrorCode, text: string, fix: string): ConnectionError =>
    new ConnectionError(ours, text, { fix });
  switch (code) {
    case "28P01":
      return make("connection_refused", `${address.label} refuses this user or password.`, "Check user and password.");
    case "28000":
      return /no encryption|SSL off/.test(message)
        ? make("connection_refused", `${address.label} wants TLS.`, "Add ?sslmode=verify-full to its URL.")
        : make(
            "connection_refused",
            `${address.label} does not let this user in: ${said}`,
            "Check user and host rules.",
          );
    case "3D000":
      return make("connection_failed", `There is no database ${address.label}.`, "Check the name of the database.");
    case "53300":
      return make(
        "connection_refused",
        `${address.label} has no connection left.`,
        "Try again later, or raise its limit.",
      );
    case "57014":
      return make(
        "query_timeout",
        "The query did not end in time, and was cancelled.",
        "Read less, or allow it more time.",
      );
    case "25006":
      return make("query_refused", `The database refused the query: ${said}`, "Ask with one SELECT that only reads.");
    case "42P01":
    case "42703":
    case "3F000":
      return make("not_there", `The database says: ${said}`, "Look at the tables and columns that are there.");
    case "42501":
      return make("query_failed", `The database says: ${said}`, "Grant SELECT to this role, or leave the table out.");
    case "08P01":
    case "57P01":
    case "57P02":
    case "57P03":
      return make("connection_failed", `${address.label} is not available: ${said}`, "Try again in a moment.");
    default:
  }
  if (/does not support SSL/.test(message)) {
    return make("connection_failed", `${address.label} does not speak TLS.`, "Take sslmode out of its URL.");
  }
  return (
    networkError(error, address) ??
    (/^[0-9A-Z]{5}$/.test(code)
      ? make("query_failed", `The database says: ${said}`, "Correct the query.")
      : make("connection_failed", `${address.label} cannot be reached: ${said}`, "Check its URL."))
  );
}
