import { RequestError } from "@tandem/protocol";
import type { Store } from "@tandem/storage";

const DEADLINE_MS = 2_000;
/** Readiness needs no token, so this limits how often it queries the database. */
const KEPT_MS = 1_000;

/** Why the database cannot be used. Clients without a token see it, so it names no host and no path. */
export const STORE_TROUBLES = ["database_unavailable", "disk_full"] as const;
export type StoreTrouble = (typeof STORE_TROUBLES)[number];

/** Whether the database responds and has space for writes. */
export class StoreCheck {
  readonly #store: Pick<Store, "check">;
  #last: { at: number; trouble: Promise<StoreTrouble | undefined> } | undefined;

  constructor(store: Pick<Store, "check">) {
    this.#store = store;
  }

  /** Undefined if there is none. */
  trouble(): Promise<StoreTrouble | undefined> {
    const now = performance.now();
    if (!this.#last || now - this.#last.at > KEPT_MS) this.#last = { at: now, trouble: this.#ask() };
    return this.#last.trouble;
  }

  async #ask(): Promise<StoreTrouble | undefined> {
    const { promise: late, resolve } = Promise.withResolvers<StoreTrouble>();
    const timer = setTimeout(() => resolve("database_unavailable"), DEADLINE_MS);
    try {
      return await Promise.race([this.#store.check().then(() => undefined), late]);
    } catch (error) {
      return error instanceof RequestError && error.detail === "disk_full" ? "disk_full" : "database_unavailable";
    } finally {
      clearTimeout(timer);
    }
  }
}
