import { ConnectionError } from "./connection-error.ts";
import type { ServerAddress } from "./server-address.ts";

const UNREACHABLE: Record<string, string> = {
  ECONNREFUSED: "No server listens there: start it, or check host and port.",
  ENOENT: "There is no such socket: start the server, or check its path.",
  ENOTFOUND: "Check the name of the host.",
  EAI_AGAIN: "Check the name of the host, and the network.",
  ETIMEDOUT: "Check host, port and firewall.",
  EHOSTUNREACH: "Check the network.",
  ENETUNREACH: "Check the network.",
  ECONNRESET: "Try again; it may have been restarted, or speak another protocol.",
  EPIPE: "Try again; it may have been restarted.",
};

/** Converts network errors of any driver; undefined for other errors. */
export function networkError(error: unknown, address: ServerAddress): ConnectionError | undefined {
  const first = error instanceof AggregateError ? (error.errors[0] as unknown) : error;
  const { code = "", message = "" } = first as { code?: string; message?: string };
  if (/CERT|SIGNATURE|TLS|SSL/.test(code)) {
    return new ConnectionError("connection_refused", `The certificate of ${address.label} is not trusted (${code}).`, {
      fix: "Give its authority with sslrootcert, or NODE_EXTRA_CA_CERTS.",
    });
  }
  const fix =
    UNREACHABLE[code] ?? (/timeout|terminated|ended|closed/i.test(message) ? UNREACHABLE["ETIMEDOUT"] : undefined);
  if (fix === undefined) return undefined;
  return new ConnectionError("connection_failed", `${address.label} cannot be reached${code && ` (${code})`}.`, {
    fix,
  });
}
