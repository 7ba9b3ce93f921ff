import type { WorktreeSettings } from "@tandem/sessions";
import type { Project } from "../config/load-project.ts";

/** Worktree settings. The caller has checked that the setup command is trusted. */
export function worktreeSettings({ config: { worktrees } }: Project): WorktreeSettings {
  const { copy, setup, setupTimeout: setupTimeoutMs, ports, removeAtArchive } = worktrees;
  return { copy, setup, setupTimeoutMs, ports, removeAtArchive };
}
