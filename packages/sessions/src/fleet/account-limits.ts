import { isoNow, type Clock } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import { z } from "zod";
import { tryWrite } from "../host/until-written.ts";
import { FLEET_SPACE } from "./fleet-space.ts";

const KIND = "account_limit";
const LISTED = 500;
/** Limits are removed long after their reset; sooner, a process could be about to record one again. */
const KEPT_MS = 60 * 60 * 1_000;

const stored = z.object({
  kind: z.string(),
  /** The model that was refused, if the service does not say which models the limit is for. */
  model: z.string().optional(),
  resetsAt: z.string(),
  by: z.string(),
  learnedAt: z.string(),
  triedAt: z.string().optional(),
});

/** The kind of a limit without a name, such as that of an API key. */
export const UNNAMED = "quota";

export interface LearnedLimit {
  kind?: string | undefined;
  model: string;
  resetsAt: string;
}

/** An exhausted quota that one process hit, shared with all. */
export interface AccountLimit extends Omit<z.infer<typeof stored>, "triedAt"> {
  /** The name from `accountOf`; not a secret. */
  account: string;
}

/**
 * Exhausted quotas by account, in the store, so that other processes on the account need not hit them too. Expired entries are
 * ignored.
 */
export class AccountLimits {
  readonly #records: Records;
  readonly #clock: Clock;

  constructor(records: Records, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  /** The limit that blocks this model on this account now; of several, the one with the latest reset. */
  async find(account: string, model: string): Promise<AccountLimit | undefined> {
    const limits = (await this.#read(`${account} `)).filter((limit) => concerns(limit, model));
    return limits.reduce<AccountLimit | undefined>((a, b) => (a && a.resetsAt >= b.resetsAt ? a : b), undefined);
  }

  /** `kind` is absent if the service has not named the limit. It then counts for the refused model only. */
  async learn(account: string, { kind, model, resetsAt }: LearnedLimit, by: string): Promise<void> {
    const named = kind === undefined ? { kind: UNNAMED, model } : { kind };
    const value = { ...named, resetsAt, by, learnedAt: isoNow(this.#clock) };
    await this.#records.write(FLEET_SPACE, [{ type: "put", kind: KIND, key: keyOf({ account, ...named }), value }]);
  }

  /** Whether a process may probe a limit now: one per interval over all processes. */
  async mayTry(limit: AccountLimit, everyMs: number): Promise<boolean> {
    const key = keyOf(limit);
    const found = await this.#records.get(FLEET_SPACE, KIND, key);
    if (!found) return true;
    const value = stored.parse(found.value);
    if (this.#clock.now() - Date.parse(value.triedAt ?? value.learnedAt) < everyMs) return false;
    const tried = { ...value, triedAt: isoNow(this.#clock) };
    const put = { type: "put", kind: KIND, key, value: tried, version: found.version } as const;
    return tryWrite(this.#records.write(FLEET_SPACE, [put]));
  }

  /** Removes a lifted limit: quota was bought or an administrator raised it. */
  async forget(limit: AccountLimit): Promise<void> {
    await this.#records.write(FLEET_SPACE, [{ type: "delete", kind: KIND, key: keyOf(limit) }]);
  }

  /** All current limits. */
  list(): Promise<AccountLimit[]> {
    return this.#read("");
  }

  async #read(prefix: string): Promise<AccountLimit[]> {
    const found = await this.#records.list(FLEET_SPACE, KIND, { prefix, limit: LISTED });
    const limits = found.map(({ key, value }) => ({ key, account: key.split(" ", 1)[0]!, ...stored.parse(value) }));
    const now = this.#clock.now();
    const old = limits.filter(({ resetsAt }) => Date.parse(resetsAt) + KEPT_MS <= now);
    if (old.length > 0) {
      // A failure is harmless; the next read retries.
      const forget = old.map(({ key }) => ({ type: "delete" as const, kind: KIND, key }));
      await this.#records.write(FLEET_SPACE, forget).catch(() => undefined);
    }
    return limits
      .filter(({ resetsAt }) => Date.parse(resetsAt) > now)
      .map(({ account, kind, model, resetsAt, by, learnedAt }) => ({
        account,
        kind,
        ...(model !== undefined && { model }),
        resetsAt,
        by,
        learnedAt,
      }));
  }
}

const keyOf = ({ account, kind, model }: Pick<AccountLimit, "account" | "kind" | "model">): string =>
  [account, kind, ...(model === undefined ? [] : [model])].join(" ");

/** `seven_day_opus` limits only models of that family; most named limits apply to all. */
function concerns({ kind, model: refused }: AccountLimit, model: string): boolean {
  // One of them may be an alias, such as `sonnet`.
  if (refused !== undefined) return refused.includes(model) || model.includes(refused);
  const family = /opus|sonnet|haiku|fable/.exec(kind)?.[0];
  return family === undefined || model.includes(family);
}
