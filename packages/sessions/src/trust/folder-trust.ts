import type { FolderConfig } from "@tandem/workspace";

/**
 * Whether what a folder brings may act in sessions. `changed`: it was trusted as it was, and is not what it was. `empty`:
 * there is nothing that would need it. `refused`: it cannot be trusted as it is.
 */
type TrustState = "trusted" | "untrusted" | "changed" | "empty" | "refused";

export interface FolderTrust {
  trusted: boolean;
  state: TrustState;
  /** The folder that the trust is about: of a worktree, that of its repository. */
  folder: string;
  /** When it was trusted. */
  since: string | null;
  /** Why it cannot be trusted. */
  reason?: string;
  /** As it was read when that was decided; absent where it cannot be trusted. */
  config?: FolderConfig;
}

/** Where nobody says who is trusted, nobody is. */
export const trustIn = async (
  { trustOf }: { trustOf?: (folder: string) => Promise<FolderTrust> },
  folder: string,
): Promise<FolderTrust> => (await trustOf?.(folder)) ?? { trusted: false, state: "untrusted", folder, since: null };

/** A trust as clients see it. */
export interface TrustView {
  folder: string;
  state: TrustState;
  since: string | null;
  reason: string | null;
  /** What would be loaded, or is. */
  files: string[];
  identity: string | null;
}

export const trustView = ({ folder, state, since, reason, config }: FolderTrust): TrustView => ({
  folder,
  state,
  since,
  reason: reason ?? null,
  files: [...(config?.files ?? [])],
  identity: config?.identity ?? null,
});
