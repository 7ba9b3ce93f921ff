import type { Candidate } from "./join-candidates.ts";
import type { Prober } from "./data/prober.ts";
import type { ColumnFacts } from "./data/table-facts.ts";

const PER_QUERY = 20;
const ROWS = 10_000;

export interface SelfOrder {
  rows: number;
  /** Rows that reference themselves. */
  same: number;
  /** Rows that reference an earlier key. */
  before: number;
  /** Rows that could have referenced a later key: their own key is not above the highest referenced one. */
  contested: number;
}

/** For possible self-references: compares values to the row's own key. */
export async function selfOrders(
  candidates: readonly Candidate[],
  prober: Prober,
): Promise<Map<ColumnFacts, SelfOrder>> {
  const own = candidates.filter(
    ({ from, to }) => from.table === to.table && from.filled > 0 && from.declaredKind === to.declaredKind,
  );
  const orders = new Map<ColumnFacts, SelfOrder>();
  for (let i = 0; i < own.length; i += PER_QUERY) {
    const batch = own.slice(i, i + PER_QUERY);
    const selects = batch.map(({ from, to }, at) => {
      const [mine, key] = [prober.quote(from.name), prober.quote(to.name)];
      const count = (condition: string) => `coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`;
      return (
        `SELECT ${at} AS probe, count(*) AS filled, ${count("a = b")} AS same, ${count("a < b")} AS earlier, ` +
        `${from.kind === "integer" && from.max !== undefined ? count(`b <= ${from.max}`) : "0"} AS contested ` +
        `FROM (SELECT ${mine} AS a, ${key} AS b FROM ${prober.tableOf(from.table)} WHERE ${mine} IS NOT NULL LIMIT ${ROWS}) s${at}`
      );
    });
    for (const row of (await prober.query(selects.join(" UNION ALL "))) ?? []) {
      const [at = 0, rows = 0, same = 0, before = 0, contested = 0] = row.map(Number);
      orders.set(batch[at]!.from, { rows, same, before, contested });
    }
  }
  return orders;
}
