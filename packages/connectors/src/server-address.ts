import { ConnectionError } from "./connection-error.ts";

/** Address of a server, safe to show. */
export interface ServerAddress {
  /** `shop at db.example:5432` */
  label: string;
  database: string;
  user: string;
  /** Redacts the password from a library's message. */
  hide(text: string): string;
}

export function serverAddress(url: string, protocols: readonly string[], defaultPort: number): ServerAddress {
  const parsed = URL.parse(url);
  // An unencoded `/`, `?` or `#` in a password would move its rest into the path, and from there into messages.
  if (!parsed || !protocols.includes(parsed.protocol) || `${parsed.pathname}${parsed.hash}`.includes("@")) {
    throw new ConnectionError("connection_failed", `The URL of the database is not one of ${protocols[0]}//.`, {
      fix: `Write ${protocols[0]}//user:password@host:${defaultPort}/database, with special characters of the password as %XX.`,
    });
  }
  const password = decode(parsed.password || (parsed.searchParams.get("password") ?? ""));
  const database = decode(parsed.pathname.slice(1));
  const host = parsed.searchParams.get("host") ?? parsed.searchParams.get("socketPath") ?? parsed.hostname;
  const secrets = [password, parsed.password].filter((text) => text !== "");
  return {
    label: `${database || "the database"} at ${host}${host.startsWith("/") ? "" : `:${parsed.port || defaultPort}`}`,
    database,
    user: decode(parsed.username),
    hide: (text) => secrets.reduce((shown, secret) => shown.replaceAll(secret, "***"), text),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
