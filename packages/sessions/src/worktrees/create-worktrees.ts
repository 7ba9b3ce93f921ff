import type { Clock } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import type { Audit } from "../audit/auditor.ts";
import { openCommandSandbox } from "../sandbox/command-sandbox.ts";
import type { SandboxedSettings } from "../sandbox/program-sandbox.ts";
import { WorktreeService } from "./worktree-service.ts";
import { DEFAULT_WORKTREES, WorktreeMaker, type WorktreeSettings } from "./worktree-maker.ts";

/** Creates the worktree service; `service` takes the function that archives sessions. */
export function createWorktrees(
  store: Store,
  settings: SandboxedSettings & { worktrees?: WorktreeSettings; clock: Clock },
  audit: Audit,
): { maker: WorktreeMaker; service: (archive: (session: string, by: string) => Promise<unknown>) => WorktreeService } {
  const { stateFolder, hostVariables } = settings;
  const maker = new WorktreeMaker({
    clock: settings.clock,
    stateFolder,
    user: settings.sandbox?.user,
    settings: settings.worktrees ?? DEFAULT_WORKTREES,
    hostVariables,
    openSandbox: (session) => openCommandSandbox(session, settings),
  });
  const home = hostVariables["HOME"];
  const note: Audit["note"] = (entry) => audit.note(entry);
  return { maker, service: (archive) => new WorktreeService({ maker, store, archive, note, home }) };
}
