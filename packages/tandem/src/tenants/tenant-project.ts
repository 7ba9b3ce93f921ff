import { TandemError, type SecretReference } from "@tandem/protocol";
import type { TenantRow } from "@tandem/storage";
import { existsSync } from "node:fs";
import { resolveToken } from "../config/resolve-secret.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../host.ts";
import type { Variables } from "../config/tandem-home.ts";
import { openProjectOrDefaults } from "../project/open-project.ts";
import { ensureTenantPlace, placeOfTenant, tenantSettings } from "./tenant-place.ts";

/** Stands in a tenant's config for the credential that the operator lends it; there is no such variable. */
const LENT: SecretReference = "env:TANDEM_LENT_CREDENTIAL";

/** A tenant's project, and the world as all that is done for the tenant sees it. */
export async function openTenantProject(
  operator: { context: Host; project: Project },
  row: TenantRow,
  /** `isOwn`: the machine is the tenant's own, and so is the login on it. */
  { isOwn = false }: { isOwn?: boolean } = {},
): Promise<{ context: Host; project: Project }> {
  const { env, signal } = operator.context;
  const place = placeOfTenant(env, row);
  await ensureTenantPlace(env, place);
  if (!existsSync(place.project)) {
    throw new TandemError("config_missing", `The project folder of ${row.id} is gone: ${place.project}.`, {
      fix: "Put it back.",
    });
  }
  const { credential } = tenantSettings.parse(row.settings);
  const context: Host = {
    ...operator.context,
    env: isOwn ? { ...place.variables, ...loginPlace(env) } : place.variables,
    cwd: place.project,
    project: place.project,
    ...(credential && {
      lent: {
        reference: LENT,
        // What is the operator's is read with what is theirs, each time anew.
        read: () => resolveToken(credential.secret, { env, folder: operator.project.folder, signal }),
      },
    }),
  };
  const own = await openProjectOrDefaults(context);
  const { config } = own;
  const claudeCode = credential
    ? {
        ...config.llm.claudeCode,
        auth: credential.auth,
        apiKey: LENT,
        oauthToken: LENT,
        baseUrl: credential.base_url,
      }
    : config.llm.claudeCode;
  return {
    context,
    project: {
      ...own,
      config: {
        ...config,
        llm: { ...config.llm, claudeCode },
        // The screen of this machine is not the tenant's.
        notify: { ...config.notify, desktop: false },
      },
    },
  };
}

/** Where Claude Code looks for a login. */
const loginPlace = (env: Variables): Variables => ({
  HOME: env["HOME"],
  CLAUDE_CONFIG_DIR: env["CLAUDE_CONFIG_DIR"],
});
