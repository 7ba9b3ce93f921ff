import { join } from "node:path";
import type { Store } from "@tandem/storage";
import type { Audit } from "../audit/audit.ts";
import type { HostSettings } from "../host/host-settings.ts";
import { WorktreeService } from "./worktree-service.ts";
import { DEFAULT_WORKTREES, WorktreeMaker, type WorktreeSettings } from "./worktree-maker.ts";
import type { Worktrees } from "./worktrees.ts";

/** Creates the worktree service; `service` takes the function that archives sessions. */
export function createWorktrees(
  store: Store,
  settings: Pick<HostSettings, "stateFolder" | "hostVariables"> & { worktrees?: WorktreeSettings },
  audit: Audit,
): { maker: WorktreeMaker; service: (archive: (session: string, by: string) => Promise<unknown>) => Worktrees } {
  const { stateFolder, hostVariables } = settings;
  // Imported lazily: commands that only read sessions start faster without it.
  const load = () => import("@tandem/claude-code");
  const maker = new WorktreeMaker({
    stateFolder,
    settings: settings.worktrees ?? DEFAULT_WORKTREES,
    variables: async () => (await load()).inheritedVariables(hostVariables),
    ledger: async () => new (await load()).ProcessLedger(join(stateFolder, "processes")),
  });
  const home = hostVariables["HOME"];
  const note: Audit["note"] = (entry) => audit.note(entry);
  return { maker, service: (archive) => new WorktreeService({ maker, store, archive, note, home }) };
}
