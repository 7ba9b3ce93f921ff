import type { Credential } from "@tandem/claude-code";
import type { HostSettings } from "../host/host-settings.ts";
import type { AccountLimit, AccountLimits } from "./account-limits.ts";

/** A key is read where it is kept, which may be a program's answer: not for every turn. */
const ACCOUNT_MS = 60_000;
/** Shorter ones are over before others could have come to know of them. */
const WORTH_TELLING_MS = 2_000;

/** A limit that somebody has lifted would be believed in until its reset, for days perhaps, if nobody ever tried. */
const TRY_EVERY_MS = 5 * 60_000;

type Settings = Pick<HostSettings, "hostVariables" | "holder" | "log" | "clock"> & {
  credential: () => Promise<Credential>;
};

/** The quotas of the account that this process runs its turns on, as all processes on that account know them. */
export class OwnLimits {
  readonly #limits: AccountLimits;
  readonly #settings: Settings;
  #account: { name: Promise<string>; at: number } | undefined;

  constructor(limits: AccountLimits, settings: Settings) {
    this.#limits = limits;
    this.#settings = settings;
  }

  /**
   * What keeps a model from being asked before a quota has been reset. With `try`, one of all who would ask may do so now
   * and then: limits are lifted too. What came of it is told with `lifted` or `learn`.
   */
  async of(
    model: string,
    { try: wantsToTry }: { try: boolean },
  ): Promise<{ limit: AccountLimit; tried: boolean } | undefined> {
    const limit = await this.#find(model);
    if (!limit) return undefined;
    const tried = wantsToTry && (await this.#limits.mayTry(limit, TRY_EVERY_MS).catch(() => false));
    return { limit, tried };
  }

  /** Never rejects. */
  async lifted(limit: AccountLimit): Promise<void> {
    await this.#limits.forget(limit).catch(() => undefined);
  }

  async #find(model: string): Promise<AccountLimit | undefined> {
    try {
      return await this.#limits.find(await this.#name(), model);
    } catch (error) {
      // Then it is asked: who is refused says so, and nobody is kept from working by what is not known.
      this.#settings.log.warn({ error: String(error) }, "the limits of the account could not be read");
      return undefined;
    }
  }

  /** Tells the others. Never rejects: they would learn of it by themselves. */
  async learn(kind: string, resetsAt: string): Promise<void> {
    if (Date.parse(resetsAt) - this.#settings.clock.now() < WORTH_TELLING_MS) return;
    // Who has logged in since is known by another name.
    this.#account = undefined;
    try {
      await this.#limits.learn(await this.#name(), { kind, resetsAt }, this.#settings.holder);
    } catch (error) {
      this.#settings.log.warn({ error: String(error) }, "a limit of the account could not be told to others");
    }
  }

  #name(): Promise<string> {
    const now = this.#settings.clock.now();
    if (!this.#account || now - this.#account.at > ACCOUNT_MS) this.#account = { name: this.#read(), at: now };
    return this.#account.name;
  }

  async #read(): Promise<string> {
    try {
      // With the first turn: who only looks at sessions need not load it.
      const { accountOf } = await import("@tandem/claude-code");
      return await accountOf(await this.#settings.credential(), this.#settings.hostVariables);
    } catch (error) {
      // Not to be remembered: the turn itself will say what is wrong with the credential.
      this.#account = undefined;
      throw error;
    }
  }
}
