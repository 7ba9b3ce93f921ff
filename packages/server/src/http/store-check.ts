import type { Store } from "@tandem/storage";

const DEADLINE_MS = 2_000;
/** Readiness needs no token, so this limits how often it queries the database. */
const KEPT_MS = 1_000;

/** Whether the database responds. */
export class StoreCheck {
  readonly #store: Pick<Store, "check">;
  #last: { at: number; passes: Promise<boolean> } | undefined;

  constructor(store: Pick<Store, "check">) {
    this.#store = store;
  }

  passes(): Promise<boolean> {
    if (!this.#last || Date.now() - this.#last.at > KEPT_MS) this.#last = { at: Date.now(), passes: this.#ask() };
    return this.#last.passes;
  }

  async #ask(): Promise<boolean> {
    const { promise: late, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), DEADLINE_MS);
    try {
      return await Promise.race([this.#store.check().then(() => true), late]);
    } catch {
      return false;
    } finally {
      clearTimeout(timer);
    }
  }
}
