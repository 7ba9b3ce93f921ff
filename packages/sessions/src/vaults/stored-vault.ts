import { credentialAuth, type VaultCredentialAuth } from "@tandem/protocol";
import { sealedSecret } from "@tandem/storage";
import { createHash } from "node:crypto";
import { z } from "zod";
import { normalServerUrl } from "./same-server.ts";

// The records of vaults. Names are stored, so they do not change.

export const storedVault = z.object({
  id: z.string(),
  displayName: z.string(),
  metadata: z.record(z.string(), z.string()),
  createdAt: z.string(),
  updatedAt: z.string(),
  archivedAt: z.string().nullable(),
});
export type StoredVault = z.infer<typeof storedVault>;

const SECRET_FIELDS = ["token", "access_token", "refresh_token", "client_secret", "secret_value"] as const;
export type SecretField = (typeof SECRET_FIELDS)[number];

export const storedCredential = z.object({
  id: z.string(),
  vault: z.string(),
  displayName: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
  auth: credentialAuth,
  /** Sealed; empty once it is archived. */
  secrets: z.partialRecord(z.enum(SECRET_FIELDS), sealedSecret),
  /** The result of the last validation or refresh. */
  check: z.object({ result: z.enum(["valid", "invalid", "unknown", "refresh_failed"]), at: z.string() }).nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  archivedAt: z.string().nullable(),
});
export type StoredCredential = z.infer<typeof storedCredential>;

/** The record that a secret is sealed for: in another one it does not open. */
export const ownerOf = ({ vault, id }: Pick<StoredCredential, "vault" | "id">, field: SecretField): string =>
  `${vault}/${id}/${field}`;

/** Two active credentials of a vault may not have the same one. Hashed, because a URL may be longer than a key. */
export function uniqueKey(vault: string, auth: VaultCredentialAuth): string {
  const name =
    auth.type === "environment_variable"
      ? `variable ${auth.secret_name}`
      : `server ${normalServerUrl(auth.mcp_server_url)}`;
  return `${vault}/${createHash("sha256").update(name).digest("hex")}`;
}
