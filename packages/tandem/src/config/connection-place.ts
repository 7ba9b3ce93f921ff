import type { Place } from "@tandem/connectors";
import { type ConnectionConfig, nearest, TandemError } from "@tandem/protocol";
import { resolve } from "node:path";
import type { Project } from "./load-project.ts";
import { resolveSecret, type SecretPlace } from "./resolve-secret.ts";

const URL_FORM = /^(postgres(ql)?|mysql|mariadb):\/\//i;

/** The connection that a config names, or an error that says which there are. */
export function findConnection({ config, shownFile }: Project, name: string): ConnectionConfig {
  const { connections } = config;
  if (Object.hasOwn(connections, name)) return connections[name]!;
  const names = Object.keys(connections);
  const meant = nearest(name, names);
  throw new TandemError("not_found", `There is no connection ${JSON.stringify(name)} in ${shownFile}.`, {
    fix: meant
      ? `Did you mean ${meant}?`
      : names.length > 0
        ? `Use one of ${names.join(", ")}.`
        : "Add one: tandem connections add shop shop.sqlite",
  });
}

/** Where a database is, with its password. The caller has made sure that the folder is trusted. */
export async function connectionPlace(name: string, connection: ConnectionConfig, place: SecretPlace): Promise<Place> {
  const { driver, path, schemas } = connection;
  if (driver === "sqlite" || driver === "duckdb") return { driver, path: resolve(place.folder, path!) };
  // A password that is changed while we run is found where it is kept; the command's own deadline is over by then.
  const renew = () => serverUrl(name, connection, { ...place, signal: undefined });
  return { driver, url: await serverUrl(name, connection, place), ...(schemas && { schemas }), renew };
}

async function serverUrl(
  name: string,
  { driver, url, password }: ConnectionConfig,
  place: SecretPlace,
): Promise<string> {
  const address = URL_FORM.test(url!) ? url! : await resolveSecret(url!, place);
  const parsed = URL_FORM.test(address) ? URL.parse(address) : null;
  if (!parsed) {
    // Without what was found: it may hold a password.
    throw new TandemError("config_invalid", `The address that connections.${name}.url leads to is not a database's.`, {
      fix: `It must have the form ${driver}://user@host/database.`,
    });
  }
  if (password !== undefined) parsed.password = encodeURIComponent(await resolveSecret(password, place));
  return parsed.href;
}

/** For people: without a password, which only a secret's place could hold anyway. */
export const shownPlace = ({ path, url }: ConnectionConfig): string => path ?? shownUrl(url ?? "");

/** With nothing in it that may be a secret, whatever a config that was written by hand has come to. */
export const shownUrl = (url: string): string =>
  url
    .replace(/(:\/\/[^/@:]*):[^/@]*@/, "$1:***@")
    .replaceAll(/([?&][^=&]*(?:pass|pwd|secret|token|key)[^=&]*=)[^&#]*/gi, "$1***");
