import type { ConversationOutput, TurnEnd } from "@tandem/claude-code";
import {
  BUDGET_UNITS,
  SESSION_METADATA,
  TandemError,
  type Limits,
  type SessionEventBody,
  type ThreadId,
  type Clock,
} from "@tandem/protocol";
import { LeaseLost, type Claim, type SharedScope, type Store } from "@tandem/storage";
import { unansweredCalls } from "../log/unanswered-calls.ts";
import type { SpendingSettings } from "./budget-settings.ts";
import { SerialQueue } from "../host/serial-queue.ts";
import type { AdmittedWork, Refusal, TurnHook, TurnControl, TurnStart } from "../hooks/turn-hook.ts";
import { errorDetail } from "../log/error-detail.ts";
import { limitOf, minus, NOTHING, toAmount, totalsOf, type Amounts } from "./amounts.ts";
import type { QuotaRegistry } from "./quota-registry.ts";
import { NextAnswers } from "./next-answers.ts";
import { lastRequest, totalsBeforeTurn } from "./read-spent.ts";
import { limitsOfSession } from "./session-limits.ts";
import { describeShortfall, refusalOf, type Shortfall } from "./shortfall.ts";

interface BudgetHookDependencies {
  clock: Clock;
  store: Store;
  quotaRegistry: QuotaRegistry;
  settings: SpendingSettings;
  control: TurnControl;
}

/** How often active time is counted; this much is reserved in advance. */
const TICK_MS = 1_000;

/** A request takes at least this much. */
const SMALLEST: Amounts = { ...NOTHING, usd: 1, tokens: 1, requests: 1 };

/** The current day in the server's time zone. */
export const today = (clock: Clock): string => new Date(clock.now()).toLocaleDateString("sv-SE");

/**
 * Keeps a session's turns within their limits. Before a turn, the estimated cost of its first response is reserved on every
 * account. After every response of every thread, its cost is counted and the next one reserved. If a reservation fails, the
 * turn is refused or interrupted. A limit can be exceeded by at most one response per active thread.
 */
export class BudgetHook implements TurnHook {
  readonly #parts: BudgetHookDependencies;
  readonly #next: NextAnswers;
  readonly #serial = new SerialQueue();
  #began: Amounts | undefined;
  #isAdmitted = false;
  #hasRecalled = false;
  #work: AdmittedWork = "turn";
  #isWatching = false;
  #isAsked = false;
  #hasSharedTime = false;
  /** A limit that requests between two turns have reached. */
  #sharedShortfall: Omit<Shortfall, "wanted"> | undefined;
  /** The session's current limits, which may have changed. */
  #allowed: { turn: Limits; session: Limits } | undefined;
  #stopTicking: (() => void) | undefined;
  #markedAt = 0;

  constructor(parts: BudgetHookDependencies) {
    this.#parts = parts;
    this.#next = new NextAnswers(
      () => this.#row.metadata[SESSION_METADATA.model] ?? this.#row.agent.model.id,
      parts.clock,
    );
  }

  async admit(work: AdmittedWork = "turn"): Promise<Refusal | undefined> {
    this.#work = work;
    // It observes every later response itself.
    const last = this.#hasRecalled ? undefined : await lastRequest(this.#parts.store.events, this.#row.id);
    this.#hasRecalled = true;
    if (last) this.#next.recall(last.end, last.at);
    // It may join a turn that only background tasks keep open.
    if (!this.#isWatching) this.#next.beginTurn();
    this.#began ??= this.#totals;
    const refusal = await this.#reserve();
    this.#isAdmitted = !refusal;
    if (refusal && !this.#isWatching) this.#began = undefined;
    return refusal;
  }

  async before(): Promise<readonly SessionEventBody[]> {
    if (!this.#isAdmitted) {
      // It may resume a turn that another process left open.
      this.#next.beginTurn();
      this.#began ??= await totalsBeforeTurn(this.#parts.store.events, this.#row.id);
      const refusal = await this.#reserve();
      if (refusal) this.#parts.control.stop(refusal.reason, refusal.events);
    }
    this.#isAdmitted = false;
    this.#begin();
    return [];
  }

  /** Reserves the first response of an agent in a workflow run, besides those of all other active threads. */
  async admitThread(thread: ThreadId): Promise<Refusal | undefined> {
    if (!this.#isWatching) this.#begin();
    this.#next.expect(thread);
    try {
      return await this.#reserve();
    } catch (error) {
      return { reason: { type: "retries_exhausted" }, events: [sessionError(budgetCheckFailed(error))] };
    }
  }

  observe(output: Extract<ConversationOutput, { type: "event" }>): void {
    const { type } = output.event;
    // Claude may start a turn by itself when a background task ends.
    if (type === "span.model_request_start" && !this.#isWatching) this.#begin();
    this.#next.observe(output);
    if (type === "span.model_request_end" || (type === "span.model_request_start" && output.thread !== null)) {
      this.#watch();
    }
  }

  /** Without a turn there is nothing to stop: the next request is refused instead. */
  spent(): void {
    if (this.#isWatching) return this.#watch();
    void this.#serial
      .run(async () => this.#parts.store.spending.settle(this.#lease, await this.#claims(NOTHING)))
      .then((short) => (this.#sharedShortfall = short.find(({ spent, limit }) => spent >= limit)))
      .catch(() => undefined);
  }

  refusesRequest(): string | undefined {
    const short = this.#ownShortfall(SMALLEST) ?? (this.#isWatching ? undefined : this.#sharedShortfall);
    return short && `A limit is reached. ${describeShortfall({ ...short, wanted: 0 })}`;
  }

  async after(_turn: TurnStart, _end: TurnEnd): Promise<readonly SessionEventBody[]> {
    await this.left();
    this.#began = undefined;
    return [];
  }

  /** Releases the reservation. */
  async left(): Promise<void> {
    this.#isWatching = false;
    this.#stopTicking?.();
    await this.#serial.run(async () => this.#parts.store.spending.settle(this.#lease, await this.#claims(NOTHING)));
  }

  #begin(): void {
    this.#began ??= this.#totals;
    this.#isWatching = true;
    this.#stopTicking?.();
    this.#markedAt = this.#parts.clock.monotonic();
    this.#stopTicking = this.#parts.clock.every(TICK_MS, () => this.#tick());
  }

  get #row() {
    return this.#parts.control.row();
  }

  get #lease() {
    return this.#parts.control.lease;
  }

  get #totals(): Amounts {
    return totalsOf(this.#parts.control.ledger.note);
  }

  /** The estimated cost of the turn's next responses. */
  get #wanted(): Amounts {
    return { ...this.#next.amounts, turns: this.#work === "turn" ? 1 : 0, seconds: TICK_MS };
  }

  /** Counts spending and reserves the next amount. Calls during a settlement are merged into one more. */
  #watch(): void {
    if (!this.#isWatching) return;
    const short = this.#ownShortfall(this.#wanted);
    if (short) void this.#stop(short);
    if (this.#isAsked) return;
    this.#isAsked = true;
    void this.#serial.run(async () => {
      this.#isAsked = false;
      if (!this.#isWatching) return;
      try {
        const refusal = await this.#share(this.#wanted);
        if (refusal && this.#isWatching) this.#parts.control.stop(refusal.reason, refusal.events);
      } catch (error) {
        // The lease was lost; the session is already being released.
        if (error instanceof LeaseLost) return;
        this.#parts.control.stop({ type: "retries_exhausted" }, [sessionError(budgetCheckFailed(error))]);
      }
    });
  }

  async #stop(short: Shortfall): Promise<void> {
    const { control, settings } = this.#parts;
    const { reason, events } = refusalOf({ ...short, isAssumed: this.#next.isAssumed }, await settings.payer());
    control.stop(reason, events);
  }

  async #reserve(): Promise<Refusal | undefined> {
    this.#allowed = await this.#parts.quotaRegistry.ofSession(this.#row.id);
    const short = this.#ownShortfall(this.#wanted);
    if (short) return refusalOf({ ...short, isAssumed: this.#next.isAssumed }, await this.#parts.settings.payer());
    return this.#serial.run(() => this.#share(this.#wanted));
  }

  /** The turn's and the session's own limits, which no other session shares. */
  #ownShortfall(wanted: Amounts): Shortfall | undefined {
    const row = this.#row;
    const { turn, session } = limitsOfSession(row, this.#allowed ?? this.#parts.settings.limits);
    const totals = this.#totals;
    const budget = row.budget && { usd: Number(row.budget.max_list_cost.amount) / 100 };
    return (
      shortIn(session, totals, wanted, { scope: "session", of: row.id }) ??
      (budget && shortIn(budget, totals, wanted, { scope: "session", of: row.id, isBudget: true })) ??
      shortIn(turn, minus(totals, this.#began ?? totals), wanted, { scope: "turn", of: row.id })
    );
  }

  async #share(wanted: Amounts): Promise<Refusal | undefined> {
    const { store, settings } = this.#parts;
    const short = await store.spending.settle(this.#lease, await this.#claims(wanted));
    // If nothing follows, only the spending must be recorded for others.
    const felt = short.find(({ unit, spent, limit }) => wanted[unit] > 0 || spent > limit);
    if (!felt) return undefined;
    return refusalOf({ ...felt, wanted: wanted[felt.unit], isAssumed: this.#next.isAssumed }, await settings.payer());
  }

  async #claims(wanted: Amounts): Promise<Claim[]> {
    const { quotaRegistry, settings } = this.#parts;
    const accounts: { scope: SharedScope; of: string }[] = [
      { scope: "agent", of: this.#row.agent.id },
      { scope: "project", of: settings.project },
      { scope: "day", of: today(this.#parts.clock) },
    ];
    const limits = await quotaRegistry.of(accounts);
    this.#hasSharedTime = limits.some(({ seconds }) => seconds !== undefined);
    const totals = this.#totals;
    return accounts.flatMap((account, index) =>
      BUDGET_UNITS.map((unit) => ({
        ...account,
        unit,
        total: totals[unit],
        reserve: wanted[unit],
        limit: limitOf(limits[index]!, unit),
      })),
    );
  }

  /** Time waiting for a person does not count. */
  #tick(): void {
    const now = this.#parts.clock.monotonic();
    if (unansweredCalls(this.#row).length === 0) this.#parts.control.ledger.workedMs += now - this.#markedAt;
    this.#markedAt = now;
    const short = this.#ownShortfall({ ...NOTHING, seconds: TICK_MS });
    if (short?.unit === "seconds") void this.#stop(short);
    else if (this.#hasSharedTime) this.#watch();
  }
}

const sessionError = (error: unknown): SessionEventBody => ({ type: "session.error", error: errorDetail(error) });

/** No limit was reached: the spending of the turn could not be recorded or compared with its limits. */
const budgetCheckFailed = (cause: unknown): TandemError => {
  const { message, tandem } = errorDetail(cause);
  return new TandemError(
    "budget_check_failed",
    `The turn was stopped because its budget could not be checked: ${message}`,
    {
      fix: tandem?.fix ?? "Look at the server's log, then send the message again.",
      cause,
    },
  );
};

function shortIn(
  limits: Limits,
  spent: Amounts,
  wanted: Amounts,
  of: Pick<Shortfall, "scope" | "of" | "isBudget">,
): Shortfall | undefined {
  for (const unit of BUDGET_UNITS) {
    const shown = limits[unit];
    // A turn always counts as one.
    if (shown === undefined || (of.scope === "turn" && unit === "turns")) continue;
    const limit = toAmount(unit, shown);
    if (spent[unit] + wanted[unit] > limit) {
      return { ...of, unit, spent: spent[unit], reserved: 0, limit, wanted: wanted[unit] };
    }
  }
  return undefined;
}
