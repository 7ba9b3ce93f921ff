import type { CredentialState, Vault, VaultCredential } from "@tandem/protocol";
import type { StoredCredential, StoredVault } from "./stored-vault.ts";

export const vaultView = (stored: StoredVault): Vault => ({
  type: "vault",
  id: stored.id,
  display_name: stored.displayName,
  metadata: stored.metadata,
  created_at: stored.createdAt,
  updated_at: stored.updatedAt,
  archived_at: stored.archivedAt,
});

/** A credential as clients see it: without its secrets. */
export const credentialView = (stored: StoredCredential, now: number): VaultCredential => ({
  type: "vault_credential",
  id: stored.id,
  vault_id: stored.vault,
  display_name: stored.displayName,
  auth: stored.auth,
  metadata: stored.metadata,
  created_at: stored.createdAt,
  updated_at: stored.updatedAt,
  archived_at: stored.archivedAt,
  tandem: { state: stateOf(stored, now), checked_at: stored.check?.at ?? null },
});

function stateOf({ auth, check, archivedAt }: StoredCredential, now: number): CredentialState {
  if (archivedAt !== null) return "archived";
  if (check?.result === "refresh_failed") return "refresh_failed";
  // With a refresh token, the next use replaces an expired access token.
  const isExpired = auth.type === "mcp_oauth" && !auth.refresh && Date.parse(auth.expires_at ?? "") <= now;
  if (isExpired) return "expired";
  return check === null || check.result === "unknown" ? "unverified" : check.result;
}
