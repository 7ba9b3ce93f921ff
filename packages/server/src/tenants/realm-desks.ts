import { RequestError } from "@tandem/protocol";
import { DEFAULT_TENANT, type TokenStore } from "@tandem/storage";
import { RealmDesk, type SharedParts } from "./realm-desk.ts";
import type { Realm, Realms } from "./realm.ts";
import type { TenantOffice } from "./tenant-office.ts";
import { tokensOf } from "./tokens-of.ts";

/** The desks of a server: one for each tenant that somebody has asked something for. */
export class RealmDesks {
  /** The operator's, which is always there. */
  readonly own: RealmDesk;
  readonly #realms: Realms | undefined;
  readonly #shared: SharedParts;
  readonly #tokens: TokenStore;
  readonly #desks = new Map<Realm, RealmDesk>();

  constructor(
    own: Realm,
    shared: SharedParts,
    parts: { tokens: TokenStore; realms: Realms | undefined; office: TenantOffice | undefined },
  ) {
    this.#shared = shared;
    this.#tokens = parts.tokens;
    this.#realms = parts.realms;
    this.own = new RealmDesk(own, shared, { tokens: parts.tokens, ...(parts.office && { office: parts.office }) });
    this.#realms?.onClose(async (realm) => {
      const desk = this.#desks.get(realm);
      this.#desks.delete(realm);
      this.#shared.streams.closeOf(realm.tenant.id, "the tenant is not served any more");
      await desk?.close();
    });
  }

  /** Undefined where the token's tenant is no more, or is not served here. */
  async of(tenant: string): Promise<RealmDesk | undefined> {
    if (tenant === DEFAULT_TENANT) return this.own;
    const realm = await this.#open(tenant);
    if (!realm) return undefined;
    let desk = this.#desks.get(realm);
    if (!desk) {
      desk = new RealmDesk(realm, this.#shared, { tokens: tokensOf(this.#tokens, tenant) });
      this.#desks.set(realm, desk);
    }
    return desk;
  }

  async close(): Promise<void> {
    await Promise.all([this.own, ...this.#desks.values()].map((desk) => desk.close()));
  }

  async #open(tenant: string): Promise<Realm | undefined> {
    try {
      return await this.#realms?.of(tenant);
    } catch (cause) {
      // What is wrong with its folder or its config names files of the machine: that is for the operator, who has the log.
      throw new RequestError("unavailable", "This tenant cannot be served at the moment.", {
        fix: "Ask whoever runs the server: its log says why.",
        cause,
      });
    }
  }
}
