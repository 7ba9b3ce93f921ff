import { SECRET_FORM, type SessionId } from "@tandem/protocol";
import { deleteRecords, sealedSecret, type Records, type SecretBox } from "@tandem/storage";
import { z } from "zod";

const SPACE = "tandem";
const KIND = "repository_token";

const stored = z.union([z.object({ sealed: sealedSecret }), z.object({ reference: z.string() })]);

/** The tokens of repositories, encrypted at rest. A reference to a secret is stored as it is, and read when it is used. */
export class RepositoryTokens {
  readonly #records: Records;
  readonly #secrets: Pick<SecretBox, "open" | "seal">;
  readonly #resolve: (reference: string) => Promise<string>;

  constructor(
    records: Records,
    secrets: Pick<SecretBox, "open" | "seal">,
    resolve: (reference: string) => Promise<string>,
  ) {
    this.#records = records;
    this.#secrets = secrets;
    this.#resolve = resolve;
  }

  async put(session: SessionId, resource: string, token: string): Promise<void> {
    const key = `${session}/${resource}`;
    const value = SECRET_FORM.test(token) ? { reference: token } : { sealed: await this.#secrets.seal(token, key) };
    await this.#records.write(SPACE, [{ type: "put", kind: KIND, key, value }]);
  }

  async get(session: SessionId, resource: string): Promise<string | undefined> {
    const key = `${session}/${resource}`;
    const found = await this.#records.get(SPACE, KIND, key);
    if (!found) return undefined;
    const value = stored.parse(found.value);
    return "reference" in value ? this.#resolve(value.reference) : this.#secrets.open(value.sealed, key);
  }

  /** For a fork. */
  async copy(from: { session: SessionId; resource: string }, to: { session: SessionId; resource: string }) {
    const found = await this.#records.get(SPACE, KIND, `${from.session}/${from.resource}`);
    if (!found) return;
    const value = stored.parse(found.value);
    const token = "reference" in value ? value.reference : await this.get(from.session, from.resource);
    if (token !== undefined) await this.put(to.session, to.resource, token);
  }

  async delete(session: SessionId, resource: string): Promise<void> {
    await this.#records.write(SPACE, [{ type: "delete", kind: KIND, key: `${session}/${resource}` }]);
  }

  async forget(session: string): Promise<void> {
    await deleteRecords(this.#records, SPACE, KIND, { prefix: `${session}/` });
  }
}
