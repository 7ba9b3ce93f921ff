import { tenantCredential } from "@tandem/protocol";
import type { TenantRow } from "@tandem/storage";
import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { tandemHome, TRUST_HOME, type Variables } from "../config/tandem-home.ts";

const MODE = 0o700;

/** What the operator has said of a tenant beside its name and quotas; kept with its row. */
export const tenantSettings = z.object({
  project: z.string().optional(),
  credential: tenantCredential.nullable().default(null),
});

/** Where a tenant lives on this machine. No two have a folder in common. */
export interface TenantPlace {
  /** Its state folder: what TANDEM_HOME is for the operator. */
  home: string;
  /** Where its sessions work, and its tandem.yaml is. */
  project: string;
  /** All that whatever is done for it may know of the operator's variables, and its own. */
  variables: Variables;
}

const tenantsFolder = (env: Variables): string => join(tandemHome(env), "tenants");

export function placeOfTenant(env: Variables, { id, settings }: Pick<TenantRow, "id" | "settings">): TenantPlace {
  const home = join(tenantsFolder(env), id);
  const { project = join(home, "project") } = tenantSettings.parse(settings);
  return {
    home,
    project,
    variables: {
      ...shared(env),
      HOME: join(home, "home"),
      TMPDIR: join(home, "tmp"),
      TANDEM_HOME: home,
      CLAUDE_CONFIG_DIR: join(home, "claude"),
      [TRUST_HOME]: tandemHome(env),
    },
  };
}

/** Its folders, for nobody else's eyes. A project folder that the operator has named is left as it is. */
export async function ensureTenantPlace(env: Variables, { home, project, variables }: TenantPlace): Promise<void> {
  const own = [variables["HOME"], variables["TMPDIR"], variables["CLAUDE_CONFIG_DIR"]].flatMap((path) => path ?? []);
  const folders = [tandemHome(env), tenantsFolder(env), home, ...own, ...(isWithin(home, project) ? [project] : [])];
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: MODE });
  // One that was there before, or was made while the umask was another.
  for (const folder of folders.slice(1)) await chmod(folder, MODE);
}

export const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);

const SHARED = new Set([
  ...["PATH", "LANG", "LANGUAGE", "TZ", "TERM"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"],
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
  ...["SystemRoot", "SYSTEMROOT", "ComSpec", "PATHEXT"],
]);

/** How programs are found, in which language they speak, and how they come to the network. */
const shared = (env: Variables): Variables =>
  Object.fromEntries(Object.entries(env).filter(([name]) => SHARED.has(name) || name.startsWith("LC_")));
