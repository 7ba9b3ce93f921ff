import { TandemError, type SecretReference } from "@tandem/protocol";
import type { Store, TenantRow } from "@tandem/storage";
import { existsSync } from "node:fs";
import { resolveToken } from "../config/resolve-secret.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";
import type { Variables } from "../config/tandem-home.ts";
import { openProjectOrDefaults } from "../project/open-project.ts";
import { ensureTenantFolders, tenantFolders, tenantSettings } from "./tenant-folders.ts";
import { tenantUser } from "./tenant-user.ts";

/** Placeholder for the credential that the operator lends to a tenant. No such variable exists. */
const LENT: SecretReference = "env:TANDEM_LENT_CREDENTIAL";

/** Opens a tenant's project with the tenant's own environment. */
export async function openTenantProject(
  operator: { host: Host; project: Project },
  row: TenantRow,
  /** `isOwn`: the machine and its login belong to the tenant. With the operator's `records`, its programs get an OS user. */
  { isOwn = false, records }: { isOwn?: boolean; records?: Store["records"] } = {},
): Promise<{ host: Host; project: Project }> {
  const { env, signal } = operator.host;
  const place = tenantFolders(env, row);
  await ensureTenantFolders(env, place);
  if (!existsSync(place.project)) {
    throw new TandemError("config_missing", `The project folder of ${row.id} is gone: ${place.project}.`, {
      fix: "Restore it.",
    });
  }
  const { credential } = tenantSettings.parse(row.settings);
  const host: Host = {
    ...operator.host,
    env: isOwn ? { ...place.variables, ...loginPlace(env) } : place.variables,
    cwd: place.project,
    project: place.project,
    ...(credential && {
      lent: {
        reference: LENT,
        // Read with the operator's environment, on each use, so that a rotated secret works.
        read: () => resolveToken(credential.secret, { env, folder: operator.project.folder, signal }),
      },
    }),
  };
  const own = await openProjectOrDefaults(host);
  const { config } = own;
  const isSet = isOwn || own.settings.some(({ path }) => path === "sandbox.mode");
  // Tenants share a machine. The operator's own mode does not count.
  const sandbox = isSet ? config.sandbox : { ...config.sandbox, mode: "require" as const };
  const user =
    records && !isOwn && sandbox.mode !== "off"
      ? await tenantUser(env, operator.project, records, row.id, place)
      : undefined;
  const claudeCode = credential
    ? { ...config.llm.claudeCode, auth: credential.auth, apiKey: LENT, oauthToken: LENT, baseUrl: credential.base_url }
    : config.llm.claudeCode;
  return {
    host: { ...host, ...(user && { user }) },
    project: {
      ...own,
      config: {
        ...config,
        llm: { ...config.llm, claudeCode },
        sandbox,
        // The desktop of this machine is not the tenant's.
        notify: { ...config.notify, desktop: false },
      },
    },
  };
}

/** The variables that locate Claude Code's login. */
const loginPlace = (env: Variables): Variables => ({ HOME: env["HOME"], CLAUDE_CONFIG_DIR: env["CLAUDE_CONFIG_DIR"] });
