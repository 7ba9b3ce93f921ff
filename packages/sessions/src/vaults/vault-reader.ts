import { type AuditNote, type VaultCredentialAuth, isoNow, type Clock } from "@tandem/protocol";
import type { SealedSecret, SecretBox } from "@tandem/storage";
import { ownerOf, type SecretField, type StoredCredential } from "./stored-vault.ts";
import type { VaultRecords } from "./vault-records.ts";

/** A secret of a credential. Only `VaultReader.open` reads it. */
export interface Sealed {
  readonly owner: string;
  readonly secret: SealedSecret;
}

type Plain<Type extends VaultCredentialAuth["type"]> = Extract<VaultCredentialAuth, { type: Type }>;

interface OAuthRefresh extends Omit<NonNullable<Plain<"mcp_oauth">["refresh"]>, "token_endpoint_auth"> {
  refresh_token: Sealed;
  token_endpoint_auth: { type: "none" } | { type: "client_secret_basic" | "client_secret_post"; client_secret: Sealed };
}

type CredentialAuth =
  | (Plain<"static_bearer"> & { token: Sealed })
  | (Omit<Plain<"mcp_oauth">, "refresh"> & { access_token: Sealed; refresh: OAuthRefresh | null })
  | (Plain<"environment_variable"> & { secret_value: Sealed });

/** An active credential. `version` counts its changes, also those of the engine. */
export interface ReadCredential {
  vaultId: string;
  id: string;
  version: number;
  auth: CredentialAuth;
}

type Reference = Pick<ReadCredential, "vaultId" | "id" | "version">;

interface ReaderDependencies {
  records: VaultRecords;
  secrets: SecretBox;
  note: (note: AuditNote) => Promise<void>;
  clock: Clock;
}

/** Credentials as the engine uses them. Nothing here keeps a secret in the clear. */
export class VaultReader {
  readonly #dependencies: ReaderDependencies;

  constructor(dependencies: ReaderDependencies) {
    this.#dependencies = dependencies;
  }

  /** Active credentials of these vaults, in the order of the vaults. A missing or archived vault has none. */
  async credentials(vaultIds: readonly string[]): Promise<ReadCredential[]> {
    const { records } = this.#dependencies;
    const found: ReadCredential[] = [];
    for (const id of vaultIds) {
      const vault = await records.find(id);
      if (!vault || vault.value.archivedAt !== null) continue;
      for (const { value, version } of await records.allOf(id)) found.push(...readable(value, version));
    }
    return found;
  }

  /** Reads one again; undefined once it is archived or deleted. */
  async credential({ vaultId, id }: Pick<Reference, "vaultId" | "id">): Promise<ReadCredential | undefined> {
    const found = await this.#dependencies.records.credential(vaultId, id);
    return found && readable(found.value, found.version)[0];
  }

  open({ owner, secret }: Sealed): Promise<string> {
    return this.#dependencies.secrets.open(secret, owner);
  }

  /** Replaces tokens if the credential still has this version; false if another process was first. */
  async replaceTokens(
    at: Reference,
    tokens: { access_token: string; refresh_token?: string; expires_at: string | null },
  ): Promise<boolean> {
    const { secrets, clock } = this.#dependencies;
    const fields = Object.entries({ access_token: tokens.access_token, refresh_token: tokens.refresh_token });
    return this.#change(at, async (stored) => {
      if (stored.auth.type !== "mcp_oauth") return undefined;
      const sealed: StoredCredential["secrets"] = { ...stored.secrets };
      for (const [field, secret] of fields) {
        if (secret === undefined) continue;
        const name = field as "access_token" | "refresh_token";
        sealed[name] = await secrets.seal(secret, ownerOf(stored, name));
      }
      const now = isoNow(clock);
      return {
        ...stored,
        auth: { ...stored.auth, expires_at: tokens.expires_at },
        secrets: sealed,
        check: null,
        updatedAt: now,
      };
    });
  }

  /**
   * Records that a refresh failed and announces `vault_credential.refresh_failed`, once until the tokens change. False if
   * another process was first. `reason` is for the audit and has no secret.
   */
  async refreshFailed(at: Reference, reason: string): Promise<boolean> {
    const { clock, note } = this.#dependencies;
    let isFirst = false;
    const isWritten = await this.#change(
      at,
      async (stored) => {
        isFirst = stored.check?.result !== "refresh_failed";
        return isFirst ? { ...stored, check: { result: "refresh_failed", at: isoNow(clock) } } : undefined;
      },
      true,
    );
    if (isWritten && isFirst) {
      const details = { vault: at.vaultId, credential: at.id, reason };
      await note({ kind: "vault_credential.refresh_failed", actor: "tandem", details });
    }
    return isWritten;
  }

  /** Changes a credential of this version; `change` returns undefined to leave it. */
  async #change(
    { vaultId, id, version }: Reference,
    change: (stored: StoredCredential) => Promise<StoredCredential | undefined>,
    isFailure = false,
  ): Promise<boolean> {
    const { records } = this.#dependencies;
    const found = await records.credential(vaultId, id);
    if (found?.version !== version || found.value.archivedAt !== null) return false;
    const next = await change(found.value);
    if (!next) return true;
    const announce = { type: "vault_credential.refresh_failed", id, vault_id: vaultId } as const;
    return records.tryWrite(records.putCredential(next, version), ...(isFailure ? [announce] : []));
  }
}

/** None for an archived credential, and for one whose secrets are incomplete. */
function readable(stored: StoredCredential, version: number): ReadCredential[] {
  const auth = stored.archivedAt === null ? withSecrets(stored) : undefined;
  return auth ? [{ vaultId: stored.vault, id: stored.id, version, auth }] : [];
}

function withSecrets(stored: StoredCredential): CredentialAuth | undefined {
  const { auth } = stored;
  const sealed = (field: SecretField): Sealed | undefined => {
    const secret = stored.secrets[field];
    return secret && { owner: ownerOf(stored, field), secret };
  };
  switch (auth.type) {
    case "static_bearer": {
      const token = sealed("token");
      return token && { ...auth, token };
    }
    case "environment_variable": {
      const value = sealed("secret_value");
      return value && { ...auth, secret_value: value };
    }
    case "mcp_oauth": {
      const access = sealed("access_token");
      return access && { ...auth, access_token: access, refresh: withRefresh(auth.refresh, sealed) };
    }
  }
}

function withRefresh(
  refresh: Plain<"mcp_oauth">["refresh"],
  sealed: (field: SecretField) => Sealed | undefined,
): OAuthRefresh | null {
  const token = sealed("refresh_token");
  if (!refresh || !token) return null;
  const { type } = refresh.token_endpoint_auth;
  if (type === "none") return { ...refresh, refresh_token: token, token_endpoint_auth: { type } };
  const secret = sealed("client_secret");
  return secret ? { ...refresh, refresh_token: token, token_endpoint_auth: { type, client_secret: secret } } : null;
}
