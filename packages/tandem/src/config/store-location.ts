import { TandemError } from "@tandem/protocol";
import { join } from "node:path";
import type { Host } from "./host.ts";
import type { Project } from "./load-project.ts";
import { resolveSecret } from "./resolve-secret.ts";
import { tandemHome, type Variables } from "./tandem-home.ts";

const POSTGRES = /^postgres(ql)?:\/\//i;
const FILE = "tandem.db";

export interface StoreLocation {
  /** May contain a password. */
  location: string;
  /** The same database without a pooler. Set, it allows a pooler in transaction mode for `location`. */
  directUrl?: string;
  /** The setting that selected this database. */
  chosenBy: "storage.url" | "DATABASE_URL" | "default";
}

/** The session database: `storage.url`, else DATABASE_URL, else a file in TANDEM_HOME. */
export async function storeLocation(
  host: Pick<Host, "env" | "signal">,
  project: Pick<Project, "config" | "folder">,
): Promise<StoreLocation> {
  const { env } = host;
  const location = await urlIn(host, project, "url", "DATABASE_URL");
  const direct = await urlIn(host, project, "directUrl", "DATABASE_DIRECT_URL");
  if (location) {
    return { location: location.url, chosenBy: location.from, ...(direct && { directUrl: direct.url }) };
  }
  if (direct?.from !== "storage.directUrl") return { location: join(tandemHome(env), FILE), chosenBy: "default" };
  throw new TandemError("usage", "storage.directUrl needs storage.url, or DATABASE_URL.", {
    fix: "Set storage.url to the pooler, or to the same database. Without Postgres, remove storage.directUrl.",
  });
}

/** The URL in this key of `storage`, else in the variable. */
async function urlIn<K extends "url" | "directUrl", V extends string>(
  { env, signal }: Pick<Host, "env" | "signal">,
  { config, folder }: Pick<Project, "config" | "folder">,
  key: K,
  variable: V,
): Promise<{ url: string; from: `storage.${K}` | V } | undefined> {
  const configured = config.storage[key];
  const from = configured === undefined ? variable : (`storage.${key}` as const);
  const text = configured ?? env[variable];
  if (!text) return undefined;
  const isReference = configured !== undefined && !POSTGRES.test(text);
  return { url: postgres(isReference ? await resolveSecret(text, { env, folder, signal }) : text, from), from };
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
