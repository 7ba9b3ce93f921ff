import { limits as limitsSchema, type BudgetScope, type Limits } from "@tandem/protocol";
import type { Records, SharedScope } from "@tandem/storage";

/** Records of the engine's own, of no context. */
export const ENGINE_SPACE = "engine";
const KIND = "limits";
/** All agents, all projects, every day. */
const ALL = "*";

export type DefaultLimits = Readonly<Record<BudgetScope, Limits>>;

/** What several sessions may take together: as somebody has said since, or as the config says. */
export class QuotaRegistry {
  readonly #records: Records;
  readonly #defaults: DefaultLimits;
  readonly #ceiling: (() => number | undefined) | undefined;

  /** `ceiling`: nobody's limits of a day are above it. */
  constructor(records: Records, defaults: DefaultLimits, ceiling?: () => number | undefined) {
    this.#ceiling = ceiling;
    this.#records = records;
    this.#defaults = defaults;
  }

  /** Of one agent, project or day: its own before those of all. */
  async of(accounts: readonly { scope: SharedScope; of: string }[]): Promise<Limits[]> {
    const keys = accounts.flatMap(({ scope, of }) => [keyOf(scope, ALL), keyOf(scope, of)]);
    const found = await this.#records.getMany(ENGINE_SPACE, KIND, keys);
    const known = new Map(found.map(({ key, value }) => [key, limitsSchema.parse(value)]));
    const most = this.#ceiling?.();
    return accounts.map(({ scope, of }) => {
      const limits = known.get(keyOf(scope, of)) ?? known.get(keyOf(scope, ALL)) ?? this.#defaults[scope];
      return scope === "day" && most !== undefined ? { ...limits, usd: Math.min(limits.usd ?? most, most) } : limits;
    });
  }

  /** What a session's own limits can lower: as the config says, and somebody has since said of this one. */
  async ofSession(id: string): Promise<{ turn: Limits; session: Limits }> {
    const { turn, session } = this.#defaults;
    return { turn, session: { ...session, ...(await this.#said(keyOf("session", id))) } };
  }

  /** Of one session; what was said of other units stays. */
  async setSession(id: string, limits: Limits): Promise<void> {
    const key = keyOf("session", id);
    const value = { ...(await this.#said(key)), ...limits };
    await this.#records.write(ENGINE_SPACE, [{ type: "put", kind: KIND, key, value }]);
  }

  async #said(key: string): Promise<Limits> {
    const found = await this.#records.get(ENGINE_SPACE, KIND, key);
    return found ? limitsSchema.parse(found.value) : {};
  }

  /** In place of what was said before, all of it. */
  async set(scope: SharedScope, of: string | undefined, limits: Limits): Promise<void> {
    const key = keyOf(scope, of ?? ALL);
    await this.#records.write(ENGINE_SPACE, [{ type: "put", kind: KIND, key, value: limits }]);
  }
}

const keyOf = (scope: SharedScope | "session", of: string): string => `${scope}:${of}`;
