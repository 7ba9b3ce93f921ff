/**
 * Location of a database. Passwords are plain values, resolved by the owner of the config; they appear in no message.
 */
export type DatabaseLocation =
  | { driver: "sqlite"; path: string }
  | { driver: "duckdb"; path: string }
  | ({ driver: "postgres" } & ServerLocation)
  | ({ driver: "mysql" } & ServerLocation);

export interface ServerLocation {
  url: string;
  schemas?: readonly string[];
  /** Returns the current URL; called when the server rejects the password. */
  renew?: () => Promise<string>;
}
