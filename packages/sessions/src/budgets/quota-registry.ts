import { limits as limitsSchema, type BudgetScope, type Limits } from "@tandem/protocol";
import type { Records, SharedScope } from "@tandem/storage";

/** The engine's own records, outside any context. */
export const ENGINE_SPACE = "engine";
const KIND = "limits";
/** The default for all agents, projects or days. */
const ALL = "*";

export type DefaultLimits = Readonly<Record<BudgetScope, Limits>>;

/** Limits shared by several sessions: as set at runtime, else as configured. */
export class QuotaRegistry {
  readonly #records: Records;
  readonly #defaults: DefaultLimits;
  readonly #ceiling: (() => number | undefined) | undefined;

  /** `ceiling`: an upper bound for limits of a day. */
  constructor(records: Records, defaults: DefaultLimits, ceiling?: () => number | undefined) {
    this.#ceiling = ceiling;
    this.#records = records;
    this.#defaults = defaults;
  }

  /** Limits of one agent, project or day: its own, else the default. */
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

  /** The bound of a session's own limits: configured, or set at runtime for this session. */
  async ofSession(id: string): Promise<{ turn: Limits; session: Limits }> {
    const { turn, session } = this.#defaults;
    return { turn, session: { ...session, ...(await this.#said(keyOf("session", id))) } };
  }

  /** Sets limits of one session; other units stay. */
  async setSession(id: string, limits: Limits): Promise<void> {
    const key = keyOf("session", id);
    const value = { ...(await this.#said(key)), ...limits };
    await this.#records.write(ENGINE_SPACE, [{ type: "put", kind: KIND, key, value }]);
  }

  async #said(key: string): Promise<Limits> {
    const found = await this.#records.get(ENGINE_SPACE, KIND, key);
    return found ? limitsSchema.parse(found.value) : {};
  }

  /** Replaces all earlier limits. */
  async set(scope: SharedScope, of: string | undefined, limits: Limits): Promise<void> {
    const key = keyOf(scope, of ?? ALL);
    await this.#records.write(ENGINE_SPACE, [{ type: "put", kind: KIND, key, value: limits }]);
  }
}

const keyOf = (scope: SharedScope | "session", of: string): string => `${scope}:${of}`;
