import { homedir } from "node:os";
import { renderCredentials } from "../credentials/render-credentials.ts";
import { tandemUses } from "../credentials/tandem-uses.ts";
import type { Context } from "../context.ts";
import { openProjectOrDefaults } from "../open-project.ts";
import { styleFor, widthOf, write } from "../terminal.ts";

/** Where credentials are and which are used: kinds and sources, never a value. Looks only; nothing is sent or spent. */
export async function credentials(context: Context): Promise<void> {
  const { env, cwd, stdout } = context;
  const project = await openProjectOrDefaults(context);
  const { reportCredentials } = await import("@tandem/claude-code");
  const report = await reportCredentials({ variables: env, folder: cwd });
  const uses = tandemUses(project, report, env);
  if (context.json) {
    const { configDir, places, claudeCode, login, notices } = report;
    const shown = {
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
            scopes: details.scopes,
          },
        }),
      })),
      claude_code: { cloud: null, host: null, ...claudeCode },
      login: { place: null, ...login },
      tandem: uses,
      notices,
    };
    return write(stdout, `${JSON.stringify(shown, null, 2)}\n`);
  }
  const look = { style: styleFor(stdout), home: env["HOME"] || homedir(), width: widthOf(stdout) };
  await write(stdout, `${renderCredentials(report, uses, look)}\n`);
}
