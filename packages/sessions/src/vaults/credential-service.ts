import {
  newId,
  RequestError,
  type AuditNote,
  type CredentialCreateParams,
  type CredentialUpdateParams,
  type CredentialValidation,
  type VaultCredential,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { Page, PageQuery, SecretBox } from "@tandem/storage";
import { readFiltered } from "../host/read-filtered.ts";
import { untilWritten, type Versioned } from "../host/until-written.ts";
import { mergeMetadata } from "../host/merge-metadata.ts";
import { changeAuth, splitAuth, type SplitAuth } from "./credential-secrets.ts";
import { credentialView } from "./credential-view.ts";
import { ownerOf, type SecretField, type StoredCredential, type StoredVault } from "./stored-vault.ts";
import type { VaultKey } from "./vault-key.ts";
import type { ReadCredential, VaultReader } from "./vault-reader.ts";
import type { VaultRecords } from "./vault-records.ts";

/** Anthropic's limit for a vault. */
const MAX_CREDENTIALS = 20;

/** Tries a credential of an MCP server, and refreshes it if the server refuses it. */
type ValidateCredential = (
  credential: ReadCredential,
) => Promise<Pick<CredentialValidation, "status" | "mcp_probe" | "refresh">>;

export interface CredentialDependencies {
  records: VaultRecords;
  reader: VaultReader;
  secrets: SecretBox;
  key: VaultKey;
  validate: ValidateCredential;
  note: (note: AuditNote) => Promise<void>;
  clock: Clock;
}

/** The operations of clients on the credentials of vaults. */
export class CredentialService {
  readonly #dependencies: CredentialDependencies;

  constructor(dependencies: CredentialDependencies) {
    this.#dependencies = dependencies;
  }

  async create(
    vault: string,
    params: CredentialCreateParams,
    by = "unknown",
    id: string = newId("vaultCredential"),
  ): Promise<VaultCredential> {
    const { records, clock } = this.#dependencies;
    await this.#openVault(vault);
    if (params.auth.type === "environment_variable") await checkVariableName(params.auth.secret_name);
    const split = splitAuth(params.auth, clock.now());
    const at = isoNow(clock);
    const stored: StoredCredential = {
      id,
      vault,
      displayName: params.display_name || null,
      metadata: params.metadata ?? {},
      auth: split.auth,
      secrets: await this.#seal({ vault, id }, split),
      check: null,
      createdAt: at,
      updatedAt: at,
      archivedAt: null,
    };
    await untilWritten(async () => {
      const { value, version } = await this.#openVault(vault);
      if (await records.isTaken(stored)) throw taken(stored);
      const active = (await records.allOf(vault)).filter(({ value: each }) => each.archivedAt === null);
      if (active.length >= MAX_CREDENTIALS) {
        throw new RequestError("invalid_request", `The vault has ${MAX_CREDENTIALS} credentials, the maximum.`, {
          fix: "Archive one that is not needed any more, or use another vault.",
        });
      }
      // Writing the vault at its version keeps two creations from exceeding the limit, and it from being archived meanwhile.
      const changes = [records.put(value, version), ...records.putCredential(stored, 0)];
      await records.write(changes, { type: "vault_credential.created", id, vault_id: vault });
    });
    return this.#noted(stored, "created", by);
  }

  async get(vault: string, id: string): Promise<VaultCredential> {
    return this.#view((await this.#find(vault, id)).value);
  }

  async update(vault: string, id: string, params: CredentialUpdateParams, by = "unknown"): Promise<VaultCredential> {
    const { records, clock } = this.#dependencies;
    const stored = await untilWritten(async () => {
      const { value, version } = await this.#find(vault, id);
      if (value.archivedAt !== null) throw archived(id);
      const split = params.auth ? changeAuth(value.auth, params.auth, clock.now()) : { auth: value.auth, secrets: {} };
      const sealed = await this.#seal(value, split);
      const next: StoredCredential = {
        ...value,
        displayName: params.display_name === undefined ? value.displayName : params.display_name,
        metadata: params.metadata ? mergeMetadata(value.metadata, params.metadata) : value.metadata,
        auth: split.auth,
        secrets: { ...value.secrets, ...sealed },
        // Other secrets have not been tried yet.
        check: Object.keys(sealed).length > 0 ? null : value.check,
        updatedAt: isoNow(clock),
      };
      await records.write(records.putCredential(next, version));
      return next;
    });
    return this.#noted(stored, "updated", by);
  }

  /** Deletes the secrets and keeps the record; its server or variable is free for another credential. */
  async archive(vault: string, id: string, by = "unknown"): Promise<VaultCredential> {
    const { records, clock } = this.#dependencies;
    let isChanged = false;
    const stored = await untilWritten(async () => {
      const { value, version } = await this.#find(vault, id);
      if (value.archivedAt !== null) return value;
      const next = archivedCredential(value, isoNow(clock));
      await records.write(records.putCredential(next, version), {
        type: "vault_credential.archived",
        id,
        vault_id: vault,
      });
      isChanged = true;
      return next;
    });
    return isChanged ? this.#noted(stored, "archived", by) : this.#view(stored);
  }

  async delete(vault: string, id: string, by = "unknown"): Promise<void> {
    const { records } = this.#dependencies;
    const deleted = await untilWritten(async () => {
      const found = await this.#find(vault, id);
      await records.write(records.deleteCredential(found), { type: "vault_credential.deleted", id, vault_id: vault });
      return found.value;
    });
    await this.#noted(deleted, "deleted", by);
  }

  async list(vault: string, { includeArchived, ...query }: PageQuery): Promise<Page<VaultCredential>> {
    const { records } = this.#dependencies;
    await records.get(vault);
    return readFiltered(query, {
      read: async (range) => (await records.credentials(vault, range)).map(({ value }) => value),
      isWanted: ({ archivedAt }) => includeArchived === true || archivedAt === null,
      view: async (stored) => this.#view(stored),
    });
  }

  /** Tries the credential at its MCP server. */
  async validate(vault: string, id: string): Promise<CredentialValidation> {
    const { records, reader, clock, validate } = this.#dependencies;
    const { value } = await this.#find(vault, id);
    if (value.auth.type === "environment_variable") {
      throw new RequestError("invalid_request", "Only a credential of an MCP server can be validated.", {
        fix: "A session that uses the variable shows whether it works.",
      });
    }
    const credential = await reader.credential({ vaultId: vault, id });
    if (!credential) throw archived(id);
    const result = await validate(credential);
    const at = isoNow(clock);
    await untilWritten(async () => {
      const { value: current, version } = await this.#find(vault, id);
      // A failed refresh says more, and is shown until the tokens change.
      if (current.archivedAt !== null || current.check?.result === "refresh_failed") return;
      await records.write(records.putCredential({ ...current, check: { result: result.status, at } }, version));
    });
    return {
      type: "vault_credential_validation",
      credential_id: id,
      vault_id: vault,
      has_refresh_token: value.secrets.refresh_token !== undefined,
      ...result,
      validated_at: at,
    };
  }

  async #seal(owner: Pick<StoredCredential, "vault" | "id">, { secrets }: SplitAuth) {
    const sealed: StoredCredential["secrets"] = {};
    if (Object.keys(secrets).length > 0) await this.#dependencies.key.check();
    for (const [field, secret] of Object.entries(secrets) as [SecretField, string][]) {
      sealed[field] = await this.#dependencies.secrets.seal(secret, ownerOf(owner, field));
    }
    return sealed;
  }

  async #openVault(id: string): Promise<Versioned<StoredVault>> {
    const found = await this.#dependencies.records.get(id);
    if (found.value.archivedAt === null) return found;
    throw new RequestError("invalid_request", `The vault ${id} is archived.`, { detail: "vault_archived" });
  }

  async #find(vault: string, id: string): Promise<Versioned<StoredCredential>> {
    await this.#dependencies.records.get(vault);
    const found = await this.#dependencies.records.credential(vault, id);
    if (found) return found;
    throw new RequestError("not_found", `There is no credential ${id} in the vault ${vault}.`);
  }

  #view(stored: StoredCredential): VaultCredential {
    return credentialView(stored, this.#dependencies.clock.now());
  }

  async #noted(
    stored: StoredCredential,
    change: "created" | "updated" | "archived" | "deleted",
    by: string,
  ): Promise<VaultCredential> {
    const { id, vault, displayName: name, auth } = stored;
    const subject = auth.type === "environment_variable" ? auth.secret_name : auth.mcp_server_url;
    const details = { vault, credential: id, name, type: auth.type, for: subject };
    await this.#dependencies.note({ kind: `vault_credential.${change}`, actor: by, details });
    return this.#view(stored);
  }
}

/** Without its secrets. */
export const archivedCredential = (stored: StoredCredential, at: string): StoredCredential => ({
  ...stored,
  secrets: {},
  check: null,
  updatedAt: at,
  archivedAt: at,
});

const archived = (id: string): RequestError =>
  new RequestError("invalid_request", `The credential ${id} is archived.`, { fix: "Create another one." });

const taken = ({ vault, auth }: StoredCredential): RequestError =>
  new RequestError(
    "conflict",
    auth.type === "environment_variable"
      ? `The vault ${vault} has a credential for the variable ${auth.secret_name}.`
      : `The vault ${vault} has a credential for the server ${auth.mcp_server_url}.`,
    { fix: "Update it, or archive it first." },
  );

/** Rejects names that would change how programs in a sandbox run. */
async function checkVariableName(name: string): Promise<void> {
  const { isReservedVariable } = await import("@tandem/claude-code");
  if (!isReservedVariable(name)) return;
  throw new RequestError(
    "invalid_request",
    `auth.secret_name: ${name} is reserved: Claude Code, a shell or the sandbox reads this variable.`,
    { fix: "Choose the name that your own program reads, such as EXAMPLE_API_KEY." },
  );
}
