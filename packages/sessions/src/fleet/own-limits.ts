import type { Credential } from "@tandem/claude-code";
import type { HostSettings } from "../host/host-settings.ts";
import type { AccountLimit, AccountLimits, LearnedLimit } from "./account-limits.ts";

/** Reading a key may run a program, so it is cached between turns. */
const ACCOUNT_MS = 60_000;
/** Shorter limits expire before other processes could learn of them. */
const WORTH_TELLING_MS = 2_000;

/** Without probes, a lifted limit would block turns until its reset, possibly for days. */
const TRY_EVERY_MS = 5 * 60_000;

type Settings = Pick<HostSettings, "hostVariables" | "holder" | "log" | "clock"> & {
  credential: () => Promise<Credential>;
};

/** The shared quotas of the account that pays for this process's turns. */
export class OwnLimits {
  readonly #limits: AccountLimits;
  readonly #settings: Settings;
  #account: { name: Promise<string>; at: number } | undefined;

  constructor(limits: AccountLimits, settings: Settings) {
    this.#limits = limits;
    this.#settings = settings;
  }

  /**
   * The limit that blocks a model until its reset. With `try`, one process at a time may probe whether the limit was lifted,
   * and reports the outcome with `lifted` or `learn`.
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
      // If limits are unknown, send the request: a rejection records the limit, and unknown limits must not block work.
      this.#settings.log.warn({ error: String(error) }, "the limits of the account could not be read");
      return undefined;
    }
  }

  /** Shares a limit with other processes. Never rejects: they would learn of it themselves. */
  async learn(limit: LearnedLimit): Promise<void> {
    if (Date.parse(limit.resetsAt) - this.#settings.clock.now() < WORTH_TELLING_MS) return;
    // After a new login, the account has another name.
    this.#account = undefined;
    try {
      await this.#limits.learn(await this.#name(), limit, this.#settings.holder);
    } catch (error) {
      this.#settings.log.warn(
        { error: String(error) },
        "a limit of the account could not be shared with other processes",
      );
    }
  }

  #name(): Promise<string> {
    const now = this.#settings.clock.now();
    if (!this.#account || now - this.#account.at > ACCOUNT_MS) this.#account = { name: this.#read(), at: now };
    return this.#account.name;
  }

  async #read(): Promise<string> {
    try {
      // Imported with the first turn: commands that only read sessions need not load it.
      const { accountOf } = await import("@tandem/claude-code/processes");
      return await accountOf(await this.#settings.credential(), this.#settings.hostVariables);
    } catch (error) {
      // Not cached: the turn itself reports the credential's error.
      this.#account = undefined;
      throw error;
    }
  }
}
