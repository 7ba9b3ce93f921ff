import {
  BUDGET_UNITS,
  limits as limitsSchema,
  RequestError,
  type AuditNote,
  type BudgetGauge,
  type BudgetScope,
  type BudgetUnit,
  type Limits,
  type Clock,
} from "@tandem/protocol";
import type { AccountState, SessionRow, SharedScope, Store } from "@tandem/storage";
import { findSessionRow } from "../log/find-session-row.ts";
import type { SpendingSettings } from "./budget-settings.ts";
import { limitOf, minus, toShown, type Amounts } from "./amounts.ts";
import { today } from "./budget-hook.ts";
import type { QuotaRegistry } from "./quota-registry.ts";
import { totalsBeforeTurn, totalsNow } from "./read-spent.ts";
import { limitsOfSession } from "./session-limits.ts";

interface BudgetDependencies {
  store: Store;
  quotaRegistry: QuotaRegistry;
  settings: SpendingSettings;
  clock: Clock;
  /** A limit was raised: sessions that waited because of it may continue. */
  onRaised: () => void;
  /** Records changed limits in the audit log. */
  note: (note: AuditNote) => Promise<void>;
}

/** Spending and limits, for display. */
export class Budgets {
  readonly #parts: BudgetDependencies;

  constructor(parts: BudgetDependencies) {
    this.#parts = parts;
  }

  /** Today, this project and every agent: entries with a limit, spending or a reservation. */
  async list(): Promise<BudgetGauge[]> {
    const [day, agents] = [today(this.#parts.clock), await this.#parts.store.spending.read({ scope: "agent" })];
    const own = [
      ...(await this.#parts.store.spending.read({ scope: "day", of: day })),
      ...(await this.#parts.store.spending.read({ scope: "project", of: this.#parts.settings.project })),
    ];
    return this.#gauges(
      [
        { scope: "day", of: day },
        { scope: "project", of: this.#parts.settings.project },
        ...[...new Set(agents.map(({ of }) => of))].map((of) => ({ scope: "agent" as const, of })),
      ],
      [...own, ...agents],
    );
  }

  /** All of a session's own limits; those of its turn and shared ones only if set. */
  async session(id: string): Promise<BudgetGauge[]> {
    const row = await findSessionRow(this.#parts.store.sessions, id);
    const payer = await this.#parts.settings.payer();
    const totals = await totalsNow(this.#parts.store.events, row, this.#parts.clock);
    const reserved = await this.#parts.store.spending.reservedBy(row.id);
    const limits = limitsOfSession(row, await this.#parts.quotaRegistry.ofSession(row.id));
    const gauge = (scope: BudgetScope, unit: BudgetUnit, spent: number, limit: number | null): BudgetGauge => ({
      scope,
      of: row.id,
      unit,
      payer,
      spent: toShown(unit, spent),
      reserved: toShown(unit, reserved[unit] ?? 0),
      limit: limit === null ? null : toShown(unit, limit),
    });
    const ofTurn = await this.#ofTurn(row, totals);
    const accounts: { scope: SharedScope; of: string }[] = [
      { scope: "agent", of: row.agent.id },
      { scope: "project", of: this.#parts.settings.project },
      { scope: "day", of: today(this.#parts.clock) },
    ];
    const states = await Promise.all(accounts.map((account) => this.#parts.store.spending.read(account)));
    return [
      ...BUDGET_UNITS.map((unit) =>
        gauge("session", unit, totals[unit], smallest(limitOf(limits.session, unit), budgetOf(row, unit))),
      ),
      ...BUDGET_UNITS.flatMap((unit) => {
        const limit = limitOf(limits.turn, unit);
        return limit === null || unit === "turns" ? [] : [gauge("turn", unit, ofTurn[unit], limit)];
      }),
      ...(await this.#gauges(accounts, states.flat())).filter(({ limit }) => limit !== null),
    ];
  }

  /** Replaces configured and earlier limits. Without `of`, sets the default. For a session, units that are not named stay. */
  async set(
    scope: SharedScope | "session",
    of: string | undefined,
    limits: Limits,
    by = "unknown",
  ): Promise<BudgetGauge[]> {
    if (scope === "session") {
      const row = of === undefined ? undefined : await this.#parts.store.sessions.get(of);
      if (!row) throw new RequestError("not_found", `There is no session ${of ?? "without an id"}.`);
      await this.#parts.quotaRegistry.setSession(row.id, limitsSchema.parse(limits));
    } else await this.#parts.quotaRegistry.set(scope, of, limitsSchema.parse(limits));
    await this.#parts.note({ kind: "budget.changed", actor: by, details: { scope, of, limits } });
    this.#parts.onRaised();
    return scope === "session" ? this.session(of!) : this.list();
  }

  async #ofTurn(row: SessionRow, totals: Amounts): Promise<Amounts> {
    const began = row.status === "idle" ? totals : await totalsBeforeTurn(this.#parts.store.events, row.id);
    return minus(totals, began);
  }

  async #gauges(
    accounts: readonly { scope: SharedScope; of: string }[],
    states: readonly AccountState[],
  ): Promise<BudgetGauge[]> {
    const limits = await this.#parts.quotaRegistry.of(accounts);
    const payer = await this.#parts.settings.payer();
    return accounts.flatMap(({ scope, of }, index) =>
      BUDGET_UNITS.flatMap((unit) => {
        const state = states.find((each) => each.scope === scope && each.of === of && each.unit === unit);
        const limit = limits[index]![unit] ?? null;
        if (limit === null && !state?.spent && !state?.reserved) return [];
        const [spent, reserved] = [toShown(unit, state?.spent ?? 0), toShown(unit, state?.reserved ?? 0)];
        return [{ scope, of, unit, spent, reserved, limit, payer }];
      }),
    );
  }
}

const budgetOf = ({ budget }: SessionRow, unit: BudgetUnit): number | null =>
  budget && unit === "usd" ? Number(budget.max_list_cost.amount) * 10_000 : null;

const smallest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.min(a, b);
