import { join } from "node:path";
import type { SessionEventBody } from "@tandem/protocol";
import {
  asMounts,
  openProgramSandbox,
  type ProgramSandbox,
  type ProgramSession,
  type SandboxedSettings,
} from "./program-sandbox.ts";
import { sandboxFolder } from "./sandbox-folder.ts";

/** The sandbox of a session's own programs besides Claude Code: people's commands and graders. */
export async function openCommandSandbox(
  row: ProgramSession,
  settings: SandboxedSettings,
  write: (events: SessionEventBody[]) => void = () => {},
): Promise<ProgramSandbox | undefined> {
  return openProgramSandbox(row, settings, {
    home: join(sandboxFolder(settings.stateFolder, row.id), "home"),
    folder: row.folder,
    extra: asMounts(settings.sandbox?.mounts ?? []),
    isAllowed: async (networking) => (await import("./session-hosts.ts")).sessionHosts(row, settings, networking),
    network: settings.sandbox ?? {},
    mountPackages: async (names) => (await import("./environment-packages.ts")).mountPackages(row, settings, names),
    write,
  });
}
