import {
  newId,
  RequestError,
  type Vault,
  type VaultCreateParams,
  type VaultUpdateParams,
  isoNow,
} from "@tandem/protocol";
import type { Page, PageQuery } from "@tandem/storage";
import { readFiltered } from "../host/read-filtered.ts";
import { untilWritten } from "../host/until-written.ts";
import type { Public } from "../host/public.ts";
import { mergeMetadata } from "../host/merge-metadata.ts";
import { archivedCredential, CredentialService, type CredentialDependencies } from "./credential-service.ts";
import { vaultView } from "./credential-view.ts";
import type { StoredVault } from "./stored-vault.ts";

/** Vaults of credentials that sessions use. Secrets go in and never come out. */
export class VaultService {
  readonly credentials: CredentialService;
  readonly #dependencies: CredentialDependencies;

  constructor(dependencies: CredentialDependencies) {
    this.#dependencies = dependencies;
    this.credentials = new CredentialService(dependencies);
  }

  /** Here and below, `by` is the caller's name for the audit. */
  async create(params: VaultCreateParams, by = "unknown", id: string = newId("vault")): Promise<Vault> {
    const { records, clock } = this.#dependencies;
    const at = isoNow(clock);
    const stored: StoredVault = {
      id,
      displayName: params.display_name,
      metadata: params.metadata ?? {},
      createdAt: at,
      updatedAt: at,
      archivedAt: null,
    };
    await untilWritten(() => records.write([records.put(stored, 0)], { type: "vault.created", id }));
    return this.#noted(stored, "created", by);
  }

  async get(id: string): Promise<Vault> {
    return vaultView((await this.#dependencies.records.get(id)).value);
  }

  async update(id: string, params: VaultUpdateParams, by = "unknown"): Promise<Vault> {
    const { records, clock } = this.#dependencies;
    const stored = await untilWritten(async () => {
      const { value, version } = await records.get(id);
      if (value.archivedAt !== null) throw archived(id);
      const next: StoredVault = {
        ...value,
        displayName: params.display_name ?? value.displayName,
        metadata: params.metadata ? mergeMetadata(value.metadata, params.metadata) : value.metadata,
        updatedAt: isoNow(clock),
      };
      await records.write([records.put(next, version)]);
      return next;
    });
    return this.#noted(stored, "updated", by);
  }

  /** Archives all its credentials, too. Running sessions lose them; new sessions cannot name the vault. */
  async archive(id: string, by = "unknown"): Promise<Vault> {
    const { records, clock } = this.#dependencies;
    let isChanged = false;
    const stored = await untilWritten(async () => {
      const { value, version } = await records.get(id);
      if (value.archivedAt !== null) return value;
      const at = isoNow(clock);
      const next: StoredVault = { ...value, updatedAt: at, archivedAt: at };
      const active = (await records.allOf(id)).filter((each) => each.value.archivedAt === null);
      await records.write(
        [
          records.put(next, version),
          ...active.flatMap((each) => records.putCredential(archivedCredential(each.value, at), each.version)),
        ],
        { type: "vault.archived", id },
        ...active.map(({ value: each }) => ({
          type: "vault_credential.archived" as const,
          id: each.id,
          vault_id: id,
        })),
      );
      isChanged = true;
      return next;
    });
    return isChanged ? this.#noted(stored, "archived", by) : vaultView(stored);
  }

  /** With all its credentials. */
  async delete(id: string, by = "unknown"): Promise<void> {
    const { records } = this.#dependencies;
    const stored = await untilWritten(async () => {
      const { value, version } = await records.get(id);
      const all = await records.allOf(id);
      await records.write(
        // Written at its version first: a credential that is added at the same time would stay.
        [records.put(value, version), records.delete(id), ...all.flatMap((each) => records.deleteCredential(each))],
        { type: "vault.deleted", id },
        ...all.map((each) => ({ type: "vault_credential.deleted" as const, id: each.value.id, vault_id: id })),
      );
      return value;
    });
    await this.#noted(stored, "deleted", by);
  }

  list({ includeArchived, ...query }: PageQuery): Promise<Page<Vault>> {
    return readFiltered(query, {
      read: (range) => this.#dependencies.records.list(range),
      isWanted: ({ archivedAt }) => includeArchived === true || archivedAt === null,
      view: async (stored) => vaultView(stored),
    });
  }

  async #noted(
    stored: StoredVault,
    change: "created" | "updated" | "archived" | "deleted",
    by: string,
  ): Promise<Vault> {
    const details = { vault: stored.id, name: stored.displayName };
    await this.#dependencies.note({ kind: `vault.${change}`, actor: by, details });
    return vaultView(stored);
  }
}

export type Vaults = Omit<VaultService, "credentials"> & { readonly credentials: Public<CredentialService> };

const archived = (id: string): RequestError =>
  new RequestError("invalid_request", `The vault ${id} is archived.`, {
    fix: "Create another one.",
    detail: "vault_archived",
  });
