import { createToken } from "../http/access/create-token.ts";
import type { FleetProcess } from "../tenants/fleet-process.ts";
import type { Roster } from "./roster.ts";

const NAME = "fleet: ";

/**
 * The token by which this process calls others on its own behalf. It has the scope `read` and is deleted when the
 * process stops.
 */
export class FleetKey implements AsyncDisposable {
  readonly #self: Pick<FleetProcess, "holder" | "store">;
  readonly #roster: Roster;
  readonly #tenant: string;
  #made: ReturnType<typeof createToken> | undefined;

  constructor(self: Pick<FleetProcess, "holder" | "store">, roster: Roster, tenant: string) {
    this.#self = self;
    this.#roster = roster;
    this.#tenant = tenant;
  }

  async secret(): Promise<string> {
    this.#made ??= this.#make();
    this.#made.catch(() => this.forget());
    return (await this.#made).secret;
  }

  /** Discards a token that another process refused because it was revoked. */
  forget(): void {
    this.#made = undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const made = await this.#made?.catch(() => undefined);
    if (made) await this.#self.store.tokens.delete(made.token.id).catch(() => undefined);
  }

  async #make(): ReturnType<typeof createToken> {
    await this.#tidy();
    const { holder, store } = this.#self;
    return createToken(store.tokens, { name: `${NAME}${holder}`, scopes: ["read"], tenant: this.#tenant });
  }

  /** Deletes tokens of processes that were killed. */
  async #tidy(): Promise<void> {
    const { holder, store } = this.#self;
    const living = new Set((await this.#roster.living(true)).map((row) => `${NAME}${row.holder}`)).add(
      `${NAME}${holder}`,
    );
    for (const { id, name } of await store.tokens.list(this.#tenant)) {
      if (name.startsWith(NAME) && !living.has(name)) await store.tokens.delete(id);
    }
  }
}
