import { RequestError, TandemError } from "@tandem/protocol";
import { SecretBox, type Records } from "@tandem/storage";
import { untilWritten } from "../host/until-written.ts";
import { VaultRecords } from "./vault-records.ts";

/**
 * Makes sure that all processes seal with the same key. Without it, one process of a fleet would store credentials that the
 * others cannot open.
 */
export class VaultKey {
  readonly #records: VaultRecords;
  readonly #secrets: Pick<SecretBox, "keyName">;

  constructor(records: VaultRecords, secrets: Pick<SecretBox, "keyName">) {
    this.#records = records;
    this.#secrets = secrets;
  }

  /** Rejects with `unavailable` if the stored secrets need another key. Call it before sealing. */
  async check(): Promise<void> {
    const own = await this.#secrets.keyName();
    await untilWritten(async () => {
      const found = await this.#records.sealingKey();
      if (found?.value === own) return;
      // Once every secret of a lost key is archived or deleted, the new key takes its place.
      if (found && (await this.#records.hasOtherKey(own))) throw otherKey(own, found.value);
      await this.#records.write([this.#records.putSealingKey(own, found?.version ?? 0)]);
    });
  }

  /** The reason why the key of this process does not open the stored secrets. Reads no key if there are none. */
  async problem(): Promise<RequestError | undefined> {
    const found = await this.#records.sealingKey();
    if (!found) return undefined;
    const own = await this.#secrets.keyName();
    const isOther = found.value !== own && (await this.#records.hasOtherKey(own));
    return isOther ? otherKey(own, found.value) : undefined;
  }
}

/** For health checks. Changes nothing; `readKey` must create no key. */
export const findVaultKeyProblem = (
  records: Records,
  readKey: () => Promise<Buffer>,
): Promise<TandemError | undefined> =>
  new VaultKey(new VaultRecords(records), new SecretBox(readKey)).problem().catch((error: unknown) => {
    if (error instanceof TandemError) return error;
    throw error;
  });

const otherKey = (own: string, stored: string): RequestError =>
  new RequestError(
    "unavailable",
    `The vaults are sealed with the key ${stored}, but this process has the key ${own}. Nothing was changed.`,
    {
      fix:
        "Restore secrets.key from the backup, or give all processes the same `storage.key`. If the key is lost, archive " +
        "the credentials and add them again.",
    },
  );
