import { BUDGET_UNITS, type BudgetUnit, type Limits, type UsageNote } from "@tandem/protocol";

/** Integers, so that sums are exact: micro-dollars, tokens, milliseconds, turns, model responses. */
export type Amounts = Record<BudgetUnit, number>;

const SCALE: Amounts = { usd: 1_000_000, tokens: 1, seconds: 1_000, turns: 1, requests: 1 };

export const NOTHING: Amounts = { usd: 0, tokens: 0, seconds: 0, turns: 0, requests: 0 };

export const toAmount = (unit: BudgetUnit, shown: number): number => Math.round(shown * SCALE[unit]);
export const toShown = (unit: BudgetUnit, amount: number): number => amount / SCALE[unit];

const each = (make: (unit: BudgetUnit) => number): Amounts =>
  Object.fromEntries(BUDGET_UNITS.map((unit) => [unit, make(unit)])) as Amounts;

export const minus = (a: Amounts, b: Amounts): Amounts => each((unit) => a[unit] - b[unit]);

/** Null if unlimited. */
export function limitOf(limits: Limits, unit: BudgetUnit): number | null {
  const shown = limits[unit];
  return shown === undefined ? null : toAmount(unit, shown);
}

/** The total spending of a session, from its log. Tokens include input and output. */
export function totalsOf(note: UsageNote | undefined): Amounts {
  if (!note) return NOTHING;
  const tokens = Object.values(note.by_model).reduce(
    (sum, { input_tokens, output_tokens, cache_read_input_tokens, cache_creation }) =>
      sum +
      input_tokens +
      output_tokens +
      cache_read_input_tokens +
      cache_creation.ephemeral_5m_input_tokens +
      cache_creation.ephemeral_1h_input_tokens,
    0,
  );
  return {
    usd: toAmount("usd", note.usd),
    tokens,
    seconds: note.worked_ms ?? 0,
    turns: note.turns ?? 0,
    requests: note.requests ?? 0,
  };
}

/** `$0.0041`, `1,200 tokens`, `12 s`, `3 turns`, `8 requests`. */
export function inWords(unit: BudgetUnit, amount: number): string {
  const shown = toShown(unit, amount);
  switch (unit) {
    case "usd":
      return `$${shown > 0 && shown < 0.1 ? shown.toFixed(4) : shown.toFixed(2)}`;
    case "seconds":
      return `${Math.round(shown * 10) / 10} s`;
    case "tokens":
    case "turns":
    case "requests":
      return `${shown.toLocaleString("en-US")} ${shown === 1 ? unit.slice(0, -1) : unit}`;
  }
}
