import type { WorktreeSettings } from "@tandem/sessions";
import type { Project } from "../config/load-project.ts";

/** How worktrees are made ready. Whoever wrote the setup command has been trusted before this is asked for. */
export function worktreeSettings({ config: { worktrees } }: Project): WorktreeSettings {
  const { copy, setup, setupTimeout: setupTimeoutMs, ports, removeAtArchive } = worktrees;
  return { copy, setup, setupTimeoutMs, ports, removeAtArchive };
}
