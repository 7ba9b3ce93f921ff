import { ConnectionError } from "./connection-error.ts";

/** Where a server is, in words that may be shown. */
export interface ServerAddress {
  /** `shop at db.example:5432` */
  label: string;
  database: string;
  user: string;
  /** Takes the password out of what a library says. */
  hide(text: string): string;
}

export function serverAddress(url: string, protocols: readonly string[], defaultPort: number): ServerAddress {
  const parsed = URL.parse(url);
  // A password with `/`, `?` or `#` in it that is not encoded ends up in the path, and from there in messages.
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
