import { RequestError, type Announcement } from "@tandem/protocol";
import { recordPages, type RecordChange, type Records } from "@tandem/storage";
import { z } from "zod";
import type { RecordQuery } from "../host/read-filtered.ts";
import { orOutrun, tryWrite, type Versioned } from "../host/until-written.ts";
import { storedCredential, storedVault, uniqueKey, type StoredCredential, type StoredVault } from "./stored-vault.ts";

const SPACE = "vaults";
const VAULT = "vault";
const CREDENTIAL = "vault_credential";
/** One for each active credential: it makes its server or variable unique in the vault. */
const UNIQUE = "vault_credential_key";
/** The name of the key that seals the secrets, so that a process with another key notices. */
const SEALING_KEY = "vault_sealing_key";
const sealingKey = z.object({ name: z.string() });

/** Vaults and credentials in the store. */
export class VaultRecords {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async find(id: string): Promise<Versioned<StoredVault> | undefined> {
    const found = await this.#records.get(SPACE, VAULT, id);
    return found && { value: storedVault.parse(found.value), version: found.version };
  }

  async get(id: string): Promise<Versioned<StoredVault>> {
    const found = await this.find(id);
    if (found) return found;
    throw new RequestError("not_found", `There is no vault ${id}.`, { detail: "vault_not_found" });
  }

  /** Newest first. */
  async list({ after, limit }: RecordQuery): Promise<StoredVault[]> {
    const range = { limit, order: "desc" as const, ...(after !== undefined && { after }) };
    const found = await this.#records.list(SPACE, VAULT, range);
    return found.map(({ value }) => storedVault.parse(value));
  }

  async credential(vault: string, id: string): Promise<Versioned<StoredCredential> | undefined> {
    const found = await this.#records.get(SPACE, CREDENTIAL, `${vault}/${id}`);
    return found && { value: storedCredential.parse(found.value), version: found.version };
  }

  /** Newest first. */
  async credentials(vault: string, { after, limit }: RecordQuery): Promise<Versioned<StoredCredential>[]> {
    const found = await this.#records.list(SPACE, CREDENTIAL, {
      prefix: `${vault}/`,
      limit,
      order: "desc",
      ...(after !== undefined && { after: `${vault}/${after}` }),
    });
    return found.map(({ value, version }) => ({ value: storedCredential.parse(value), version }));
  }

  /** All credentials of a vault, newest first. */
  async allOf(vault: string): Promise<Versioned<StoredCredential>[]> {
    const all: Versioned<StoredCredential>[] = [];
    const range = { prefix: `${vault}/`, order: "desc" } as const;
    for await (const page of recordPages(this.#records, SPACE, CREDENTIAL, range)) {
      all.push(...page.map(({ value, version }) => ({ value: storedCredential.parse(value), version })));
    }
    return all;
  }

  /** Whether a secret is stored that this key does not open. */
  async hasOtherKey(key: string): Promise<boolean> {
    for await (const page of recordPages(this.#records, SPACE, CREDENTIAL)) {
      const secrets = page.flatMap(({ value }) => Object.values(storedCredential.parse(value).secrets));
      if (secrets.some((sealed) => sealed.key !== key)) return true;
    }
    return false;
  }

  /** The key that this database's secrets are sealed with. */
  async sealingKey(): Promise<Versioned<string> | undefined> {
    const found = await this.#records.get(SPACE, SEALING_KEY, "current");
    return found && { value: sealingKey.parse(found.value).name, version: found.version };
  }

  putSealingKey(name: string, version: number): RecordChange {
    return { type: "put", kind: SEALING_KEY, key: "current", value: { name }, version };
  }

  /** Whether an active credential has the same server or variable. */
  async isTaken(credential: Pick<StoredCredential, "vault" | "auth">): Promise<boolean> {
    return (await this.#records.get(SPACE, UNIQUE, uniqueKey(credential.vault, credential.auth))) !== undefined;
  }

  put(vault: StoredVault, version: number): RecordChange {
    return { type: "put", kind: VAULT, key: vault.id, value: vault, version };
  }

  putCredential(credential: StoredCredential, version: number): RecordChange[] {
    const { id, vault, auth, archivedAt } = credential;
    const key = uniqueKey(vault, auth);
    return [
      { type: "put", kind: CREDENTIAL, key: `${vault}/${id}`, value: credential, version },
      ...(version === 0 ? [{ type: "put", kind: UNIQUE, key, value: { credential: id }, version: 0 } as const] : []),
      ...(archivedAt === null ? [] : [{ type: "delete", kind: UNIQUE, key } as const]),
    ];
  }

  delete(id: string): RecordChange {
    return { type: "delete", kind: VAULT, key: id };
  }

  /**
   * An archived credential has left its key to others already. Written at its version first: a credential that is archived at the
   * same time must not lose the key of its successor.
   */
  deleteCredential({ value, version }: Versioned<StoredCredential>): RecordChange[] {
    const { id, vault, auth, archivedAt } = value;
    const key = `${vault}/${id}`;
    return [
      { type: "put", kind: CREDENTIAL, key, value, version },
      { type: "delete", kind: CREDENTIAL, key },
      ...(archivedAt === null ? [{ type: "delete", kind: UNIQUE, key: uniqueKey(vault, auth) } as const] : []),
    ];
  }

  /** False if a record has another version. */
  tryWrite(changes: readonly RecordChange[], ...announce: Announcement[]): Promise<boolean> {
    return tryWrite(this.#records.write(SPACE, changes, { announce }));
  }

  /** Rejects with `Outrun` if a record has another version. */
  write(changes: readonly RecordChange[], ...announce: Announcement[]): Promise<void> {
    return orOutrun(this.#records.write(SPACE, changes, { announce }));
  }
}
