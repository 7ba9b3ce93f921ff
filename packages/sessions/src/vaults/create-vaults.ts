import { RequestError, type AuditNote, type Clock } from "@tandem/protocol";
import type { Records, SecretBox } from "@tandem/storage";
import type { Log } from "../host/host-settings.ts";
import { cannotInject } from "./cannot-inject.ts";
import { guardedFetch } from "./use/guarded-fetch.ts";
import { OAuthLogins } from "./use/oauth-logins.ts";
import { sessionCredentials, type SessionCredentials } from "./use/session-credentials.ts";
import { TokenRefresher } from "./use/token-refresher.ts";
import { validateCredential } from "./use/validate-credential.ts";
import { VaultKey } from "./vault-key.ts";
import { VaultReader } from "./vault-reader.ts";
import { VaultRecords } from "./vault-records.ts";
import { VaultService } from "./vault-service.ts";

interface VaultSettings {
  records: Records;
  secrets: SecretBox;
  note: (note: AuditNote) => Promise<void>;
  log: Log;
  clock: Clock;
  /** Whether URLs must not lead to this machine or its network. */
  publicOnly?: boolean;
  /** Why variables cannot be used here; undefined if they can. */
  whyNoVariables?: () => Promise<string | undefined>;
}

export interface SessionVaults {
  /** Rejects unless the vaults of a new session exist, are not archived, and can be used here. */
  check(vaultIds: readonly string[], environment: { isSelfHosted: boolean }): Promise<void>;
  /** Whether one of them has an `environment_variable` credential. */
  hasVariables(vaultIds: readonly string[]): Promise<boolean>;
}

/** The vaults of a store: for clients, for sessions, and for the engine that uses them. */
export function createVaults({
  records: store,
  secrets,
  note,
  log,
  clock,
  publicOnly = true,
  whyNoVariables = async () => "there is no sandbox",
}: VaultSettings): {
  vaults: VaultService;
  reader: VaultReader;
  logins: OAuthLogins;
  /** For the processes of sessions. */
  credentials: SessionCredentials;
  ofSessions: SessionVaults;
  start: () => Promise<void>;
} {
  const records = new VaultRecords(store);
  const key = new VaultKey(records, secrets);
  const reader = new VaultReader({ records, secrets, note, clock });
  const send = guardedFetch(publicOnly);
  const refresher = new TokenRefresher({ reader, records: store, clock, send });
  const vaults = new VaultService({
    records,
    reader,
    secrets,
    key,
    validate: (credential) => validateCredential(credential, { reader, refresher, send }),
    note,
    clock,
  });
  const credentials = sessionCredentials(reader, refresher);
  return {
    vaults,
    reader,
    logins: new OAuthLogins({ vaults, records: store, secrets, send, clock }),
    credentials,
    ofSessions: {
      hasVariables: (vaultIds) => credentials.hasVariables(vaultIds),
      async check(vaultIds, { isSelfHosted }) {
        for (const id of vaultIds) {
          const found = await records.find(id);
          if (!found) throw unusable(`vault_ids: there is no vault ${id}`, "vault_not_found");
          if (found.value.archivedAt !== null)
            throw unusable(`vault_ids: the vault ${id} is archived`, "vault_archived");
        }
        if (!(await credentials.hasVariables(vaultIds))) return;
        const reason = isSelfHosted ? "a self-hosted environment runs them elsewhere" : await whyNoVariables();
        if (reason !== undefined) throw cannotInject(reason, "invalid_request");
      },
    },
    async start() {
      const problem = await key.problem().then(
        (found) => found?.message,
        (error: unknown) => String(error),
      );
      if (problem !== undefined) log.warn({ error: problem }, "credentials of vaults cannot be used");
    },
  };
}

const unusable = (message: string, detail: "vault_not_found" | "vault_archived"): RequestError =>
  new RequestError(detail === "vault_not_found" ? "not_found" : "invalid_request", `${message}.`, { detail });
