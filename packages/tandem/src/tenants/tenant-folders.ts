import { tenantCredential } from "@tandem/protocol";
import type { TenantRow } from "@tandem/storage";
import { chmod, mkdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { tandemHome, TRUST_HOME, type Variables } from "../config/tandem-home.ts";

const MODE = 0o700;

/** The operator's settings of a tenant, stored with its row. */
export const tenantSettings = z.object({
  project: z.string().optional(),
  credential: tenantCredential.nullable().default(null),
});

/** The folders of a tenant on this machine. Tenants share no folder. */
export interface TenantFolders {
  /** The tenant's TANDEM_HOME. */
  home: string;
  /** The folder of its tandem.yaml and its sessions. */
  project: string;
  /** The environment of the tenant's processes: its own variables and the few shared ones of the operator. */
  variables: Variables;
}

const tenantsFolder = (env: Variables): string => join(tandemHome(env), "tenants");

export function tenantFolders(env: Variables, { id, settings }: Pick<TenantRow, "id" | "settings">): TenantFolders {
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

/** Creates its folders as private. Leaves a project folder that the operator chose unchanged. */
export async function ensureTenantFolders(env: Variables, { home, project, variables }: TenantFolders): Promise<void> {
  const own = [variables["HOME"], variables["TMPDIR"], variables["CLAUDE_CONFIG_DIR"]].flatMap((path) => path ?? []);
  const folders = [tandemHome(env), tenantsFolder(env), home, ...own, ...(isWithin(home, project) ? [project] : [])];
  for (const folder of folders) await mkdir(folder, { recursive: true, mode: MODE });
  // Fixes the mode of an existing folder or of one created under another umask. `tenantUser` lets a group pass.
  for (const folder of folders.slice(1)) {
    const { mode } = await stat(folder);
    if ((mode & 0o777 & ~0o010) !== MODE) await chmod(folder, MODE);
  }
}

export const isWithin = (folder: string, path: string): boolean => path === folder || path.startsWith(`${folder}/`);

const SHARED = new Set(
  `PATH LANG LANGUAGE TZ TERM HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY http_proxy https_proxy
  all_proxy no_proxy NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR SystemRoot SYSTEMROOT ComSpec
  PATHEXT`.split(/\s+/),
);

/** Shared variables: program path, locale and proxy. */
const shared = (env: Variables): Variables =>
  Object.fromEntries(Object.entries(env).filter(([name]) => SHARED.has(name) || name.startsWith("LC_")));
