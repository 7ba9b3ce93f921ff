import { RequestError, type AuditNote } from "@tandem/protocol";
import type { Records, SecretBox } from "@tandem/storage";
import type { Clock } from "../host/clock.ts";
import type { Log } from "../host/host-settings.ts";
import { VaultKey } from "./vault-key.ts";
import { StoredVaultReader, type VaultReader } from "./vault-reader.ts";
import { VaultRecords } from "./vault-records.ts";
import { VaultService } from "./vault-service.ts";
import type { ValidateCredential } from "./vaults.ts";

interface VaultSettings {
  records: Records;
  secrets: SecretBox;
  note: (note: AuditNote) => Promise<void>;
  log: Log;
  clock: Clock;
}

export interface SessionVaults {
  /** Rejects unless the vaults of a new session exist and are not archived. */
  check(vaultIds: readonly string[]): Promise<void>;
}

/** Until a credential can be tried, nothing is known about it. */
const notTried: ValidateCredential = async () => ({ status: "unknown", mcp_probe: null, refresh: null });

/** The vaults of a store: for clients, for sessions, and for the engine that uses them. */
export function createVaults({ records: store, secrets, note, log, clock }: VaultSettings): {
  vaults: VaultService;
  reader: VaultReader;
  ofSessions: SessionVaults;
  start: () => Promise<void>;
} {
  const records = new VaultRecords(store);
  const key = new VaultKey(records, secrets);
  const reader = new StoredVaultReader({ records, secrets, note, clock });
  return {
    vaults: new VaultService({ records, reader, secrets, key, validate: notTried, note, clock }),
    reader,
    ofSessions: {
      async check(vaultIds) {
        for (const id of vaultIds) {
          const found = await records.find(id);
          if (!found) throw unusable(`vault_ids: there is no vault ${id}`, "vault_not_found");
          if (found.value.archivedAt !== null)
            throw unusable(`vault_ids: the vault ${id} is archived`, "vault_archived");
        }
      },
    },
    async start() {
      const problem = await key.problem().catch((error: unknown) => String(error));
      if (problem !== undefined) log.warn({ error: problem }, "credentials of vaults cannot be used");
    },
  };
}

const unusable = (message: string, detail: "vault_not_found" | "vault_archived"): RequestError =>
  new RequestError(detail === "vault_not_found" ? "not_found" : "invalid_request", `${message}.`, { detail });
