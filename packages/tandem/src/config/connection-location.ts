import type { DatabaseLocation } from "@tandem/connectors";
import { type ConnectionConfig, nearest, TandemError } from "@tandem/protocol";
import { resolve } from "node:path";
import type { Project } from "./load-project.ts";
import { resolveSecret, type SecretContext } from "./resolve-secret.ts";

const URL_FORM = /^(postgres(ql)?|mysql|mariadb):\/\//i;

/** Finds a connection. The error lists the known names. */
export function findConnection({ config, displayPath }: Project, name: string): ConnectionConfig {
  const { connections } = config;
  if (Object.hasOwn(connections, name)) return connections[name]!;
  const names = Object.keys(connections);
  const meant = nearest(name, names);
  throw new TandemError("not_found", `There is no connection ${JSON.stringify(name)} in ${displayPath}.`, {
    fix: meant
      ? `Did you mean ${meant}?`
      : names.length > 0
        ? `Use one of ${names.join(", ")}.`
        : "Add one: tandem connections add shop shop.sqlite",
  });
}

/** Resolves a database address including its password. The caller has checked that the folder is trusted. */
export async function connectionLocation(
  name: string,
  connection: ConnectionConfig,
  place: SecretContext,
): Promise<DatabaseLocation> {
  const { driver, path, schemas } = connection;
  if (driver === "sqlite" || driver === "duckdb") return { driver, path: resolve(place.folder, path!) };
  // Resolves again without the command's signal, so that a rotated password works in a long-running process.
  const renew = () => serverUrl(name, connection, { ...place, signal: undefined });
  return { driver, url: await serverUrl(name, connection, place), ...(schemas && { schemas }), renew };
}

async function serverUrl(
  name: string,
  { driver, url, password }: ConnectionConfig,
  place: SecretContext,
): Promise<string> {
  const address = URL_FORM.test(url!) ? url! : await resolveSecret(url!, place);
  const parsed = URL_FORM.test(address) ? URL.parse(address) : null;
  if (!parsed) {
    // Leave out the resolved address: it may contain a password.
    throw new TandemError("config_invalid", `connections.${name}.url does not resolve to a database URL.`, {
      fix: `It must have the form ${driver}://user@host/database.`,
    });
  }
  if (password !== undefined) parsed.password = encodeURIComponent(await resolveSecret(password, place));
  return parsed.href;
}

/** For display. Contains no password. */
export const describeLocation = ({ path, url }: ConnectionConfig): string => path ?? redactUrl(url ?? "");

/** Removes every part that could be a secret, also in a malformed URL. */
export const redactUrl = (url: string): string =>
  url
    .replace(/(:\/\/[^/@:]*):[^/@]*@/, "$1:***@")
    .replaceAll(/([?&][^=&]*(?:pass|pwd|secret|token|key)[^=&]*=)[^&#]*/gi, "$1***");
