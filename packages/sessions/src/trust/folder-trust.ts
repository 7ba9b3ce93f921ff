import type { Trust as TrustView } from "@tandem/protocol";
import type { FolderConfig } from "@tandem/workspace";

/** Whether sessions load a folder's own settings, hooks and servers. Only `tandem trust --folder` on the machine grants it. */
export interface Trust {
  /** A folder that sessions may work in. */
  of(folder: string): Promise<TrustView>;
}

/**
 * Whether a folder's settings may take effect in sessions. `changed`: it changed since it was trusted. `empty`: nothing needs
 * trust. `refused`: it cannot be trusted.
 */
type TrustState = "trusted" | "untrusted" | "changed" | "empty" | "refused";

export interface FolderTrust {
  trusted: boolean;
  state: TrustState;
  /** The trusted folder: for a worktree, that of its repository. */
  folder: string;
  /** When it was trusted. */
  since: string | null;
  /** Why it cannot be trusted. */
  reason?: string;
  /** The contents at the time of the decision; absent if it cannot be trusted. */
  config?: FolderConfig;
}

export interface TrustSettings {
  /** The current trust of a folder. Without it, no folder is trusted. */
  trustOf?: (folder: string) => Promise<FolderTrust>;
}

export const trustIn = async ({ trustOf }: TrustSettings, folder: string): Promise<FolderTrust> =>
  (await trustOf?.(folder)) ?? { trusted: false, state: "untrusted", folder, since: null };

/** The content that takes effect in sessions. Use these bytes: the files may have changed since they were checked. */
export async function trustedConfig(settings: TrustSettings, folder: string): Promise<FolderConfig | undefined> {
  const { trusted, config } = await trustIn(settings, folder);
  return trusted ? config : undefined;
}

export const trustView = ({ folder, state, since, reason, config }: FolderTrust): TrustView => ({
  folder,
  state,
  since,
  reason: reason ?? null,
  files: [...(config?.files ?? [])],
  identity: config?.identity ?? null,
});
