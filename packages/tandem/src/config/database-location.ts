import { TandemError } from "@tandem/protocol";
import { join } from "node:path";
import type { Host } from "../host.ts";
import type { Project } from "./load-project.ts";
import { resolveSecret } from "./resolve-secret.ts";
import { tandemHome, type Variables } from "./tandem-home.ts";

const POSTGRES = /^postgres(ql)?:\/\//i;
const FILE = "tandem.db";

export interface DatabaseLocation {
  /** May contain a password. */
  location: string;
  /** The setting that selected this database. */
  chosenBy: "storage.url" | "DATABASE_URL" | "default";
}

/** The session database: `storage.url`, else DATABASE_URL, else a file in TANDEM_HOME. */
export async function databaseLocation(
  { env, signal }: Pick<Host, "env" | "signal">,
  { config, folder }: Pick<Project, "config" | "folder">,
): Promise<DatabaseLocation> {
  const { url } = config.storage;
  if (url !== undefined) {
    const location = POSTGRES.test(url) ? url : await resolveSecret(url, { env, folder, signal });
    return { location: postgres(location, "storage.url"), chosenBy: "storage.url" };
  }
  const variable = env["DATABASE_URL"];
  if (variable) return { location: postgres(variable, "DATABASE_URL"), chosenBy: "DATABASE_URL" };
  return { location: join(tandemHome(env), FILE), chosenBy: "default" };
}

/** Identifies a database without reading a secret: the configured address without user and password. */
export function databaseName(env: Variables, { config }: Pick<Project, "config">): string {
  const name = config.storage.url ?? (env["DATABASE_URL"] || join(tandemHome(env), FILE));
  return name.replace(/\/\/[^/@]*@/, "//");
}

/** The error does not repeat the address, which may contain a password. */
function postgres(location: string, from: string): string {
  if (POSTGRES.test(location)) return location;
  throw new TandemError("usage", `${from} is not a Postgres URL.`, {
    fix:
      from === "DATABASE_URL"
        ? "Set storage.url in tandem.yaml, or start Tandem with an empty DATABASE_URL to store sessions in a file."
        : "Correct it to postgres://user:password@host/database, or remove it to store sessions in a file.",
  });
}
