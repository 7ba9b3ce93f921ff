import { homedir } from "node:os";
import { readCredentials, wireReport } from "@tandem/tandem/health";
import { renderCredentials } from "../credentials/render-credentials.ts";
import type { Context } from "../context.ts";
import { openProjectOrDefaults } from "@tandem/tandem/project";
import { styleFor, widthOf, write } from "../terminal.ts";

/** Where credentials are and which are used: kinds and sources, never a value. Looks only; nothing is sent or spent. */
export async function credentials(context: Context): Promise<void> {
  const { env, cwd, stdout } = context;
  const project = await openProjectOrDefaults(context);
  const { report, uses } = await readCredentials({ env, cwd }, project);
  if (context.json) return write(stdout, `${JSON.stringify(wireReport(report, uses), null, 2)}\n`);
  const look = { style: styleFor(stdout), home: env["HOME"] || homedir(), width: widthOf(stdout) };
  await write(stdout, `${renderCredentials(report, uses, look)}\n`);
}
