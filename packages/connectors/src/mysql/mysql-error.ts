import { ConnectionError, type ConnectionErrorCode } from "../connection-error.ts";
import { networkError } from "../network-error.ts";
import { Failure } from "../reader/failure.ts";
import type { ServerAddress } from "../server-address.ts";

/** Converts errors of the server or network. Keeps no cause: a library's error may contain the password. */
export function toConnectionError(error: unknown, address: ServerAddress): ConnectionError {
  if (error instanceof ConnectionError) return error;
  if (error instanceof Failure) return new ConnectionError(error.code, error.message, { fix: error.fix });
  const {
    errno = 0,
    code = "",
    message = String(error),
  } = error as { errno?: number; code?: string; message?: string };
  const said = address.hide(message).replace(/\.?$/, ".");
  const make = (ours: ConnectionErrorCode, text: string, fix: string): ConnectionError =>
    new ConnectionError(ours, text, { fix });
  switch (errno) {
    case 1045:
    case 1698:
    case 1130:
      return make("connection_refused", `${address.label} refuses this user or password.`, "Check user and password.");
    case 1044:
      return make(
        "connection_refused",
        `${address.label} is not open to this user.`,
        "Grant it SELECT on the database.",
      );
    case 1049:
      return make("connection_failed", `There is no database ${address.label}.`, "Check the name of the database.");
    case 1040:
    case 1203:
    case 1226:
      return make(
        "connection_refused",
        `${address.label} has no connection left.`,
        "Try again later, or raise its limit.",
      );
    case 3159:
    case 4150:
      return make(
        "connection_refused",
        `${address.label} wants TLS.`,
        'Add ?ssl={"rejectUnauthorized":true} to its URL.',
      );
    case 1054:
    case 1109:
    case 1146:
      return make("not_there", `The database says: ${said}`, "Look at the tables and columns that are there.");
    case 1142:
    case 1143:
    case 1370:
      return make("query_failed", `The database says: ${said}`, "Grant SELECT to this user, or leave the table out.");
    case 1317:
    case 1969:
    case 3024:
      return make(
        "query_timeout",
        "The query did not end in time, and was cancelled.",
        "Read less, or allow it more time.",
      );
    case 1290:
    case 1792:
    case 1836:
      return make("query_refused", `The database refused the query: ${said}`, "Ask with one SELECT that only reads.");
    default:
  }
  if (code === "HANDSHAKE_NO_SSL_SUPPORT") {
    return make("connection_failed", `${address.label} does not speak TLS.`, "Take ssl out of its URL.");
  }
  if (code === "PROTOCOL_CONNECTION_LOST") {
    return make("connection_failed", `${address.label} closed the connection.`, "Try again in a moment.");
  }
  return (
    networkError(error, address) ??
    (errno > 0
      ? make("query_failed", `The database says: ${said}`, "Correct the query.")
      : make("connection_failed", `${address.label} cannot be reached: ${said}`, "Check its URL."))
  );
}
