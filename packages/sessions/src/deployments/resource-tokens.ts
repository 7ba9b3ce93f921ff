import { SECRET_FORM, type SessionResourceParams } from "@tandem/protocol";
import { sealedSecret, type SecretBox } from "@tandem/storage";
import { z } from "zod";

/** By the index of the resource. A reference to a secret is stored as it is, and read by the session. */
export const storedTokens = z.record(
  z.string(),
  z.union([z.object({ sealed: sealedSecret }), z.object({ reference: z.string() })]),
);
type StoredTokens = z.infer<typeof storedTokens>;

interface Stored {
  id: string;
  resources: SessionResourceParams[];
  tokens: StoredTokens;
}

/** The tokens of a deployment's repositories, encrypted at rest. */
export class ResourceTokens {
  readonly #secrets: Pick<SecretBox, "open" | "seal">;

  constructor(secrets: Pick<SecretBox, "open" | "seal">) {
    this.#secrets = secrets;
  }

  async seal(id: string, given: readonly SessionResourceParams[]): Promise<Omit<Stored, "id">> {
    const tokens: StoredTokens = {};
    const resources = await Promise.all(
      given.map(async (resource, index) => {
        if (resource.type !== "github_repository" || resource.authorization_token === undefined) return resource;
        const { authorization_token: token, ...rest } = resource;
        tokens[index] = SECRET_FORM.test(token)
          ? { reference: token }
          : { sealed: await this.#secrets.seal(token, `${id}/${index}`) };
        return rest;
      }),
    );
    return { resources, tokens };
  }

  /** The resources as they were given. */
  open({ id, resources, tokens }: Stored): Promise<SessionResourceParams[]> {
    return Promise.all(
      resources.map(async (resource, index) => {
        const token = tokens[index];
        if (!token || resource.type !== "github_repository") return resource;
        const text = "reference" in token ? token.reference : await this.#secrets.open(token.sealed, `${id}/${index}`);
        return { ...resource, authorization_token: text };
      }),
    );
  }
}
