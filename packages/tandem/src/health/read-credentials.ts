import type { CredentialReport } from "@tandem/claude-code";
import type { CredentialsReport } from "@tandem/protocol";
import type { Project } from "../config/load-project.ts";
import type { Variables } from "../config/tandem-home.ts";
import { tandemUses } from "./tandem-uses.ts";

/** Lists credentials and the ones in use. Read-only; sends nothing. */
export async function readCredentials(
  { env, cwd }: { env: Variables; cwd: string },
  project: Project,
): Promise<{ report: CredentialReport; uses: CredentialsReport["tandem"] }> {
  const { reportCredentials } = await import("@tandem/claude-code/processes");
  const report = await reportCredentials({ variables: env, folder: cwd });
  return { report, uses: tandemUses(project, report, env) };
}

/** The report as JSON, for programs and the page. */
export function wireReport(report: CredentialReport, uses: CredentialsReport["tandem"]): CredentialsReport {
  const { configDir, places, claudeCode, login, notices } = report;
  return {
    config_dir: { path: configDir.path, chosen_by: configDir.chosenBy },
    places: places.map(({ readBy, login: details, ...place }) => ({
      ...place,
      read_by: readBy,
      ...(details && {
        login: {
          expires_at: details.expiresAt?.toISOString() ?? null,
          expired: details.expired,
          renewable: details.renewable,
          plan: details.plan ?? null,
          scopes: [...details.scopes],
        },
      }),
    })),
    claude_code: { cloud: null, host: null, ...claudeCode, sends: { ...claudeCode.sends } },
    login: { place: null, ...login },
    tandem: uses,
    notices,
  };
}
