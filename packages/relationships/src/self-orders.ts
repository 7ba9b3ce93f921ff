import type { Candidate } from "./candidates.ts";
import type { Prober } from "./prober.ts";
import type { ColumnFacts } from "./table-facts.ts";

const PER_QUERY = 20;
const ROWS = 10_000;

/** For columns that may refer to their own table: how many rows name themselves, how many an earlier key. */
export async function selfOrders(
  candidates: readonly Candidate[],
  prober: Prober,
): Promise<Map<ColumnFacts, { rows: number; same: number; before: number }>> {
  const own = candidates.filter(
    ({ from, to }) => from.table === to.table && from.filled > 0 && from.declaredKind === to.declaredKind,
  );
  const orders = new Map<ColumnFacts, { rows: number; same: number; before: number }>();
  for (let i = 0; i < own.length; i += PER_QUERY) {
    const batch = own.slice(i, i + PER_QUERY);
    const selects = batch.map(({ from, to }, at) => {
      const [mine, key] = [prober.quote(from.name), prober.quote(to.name)];
      const count = (condition: string) => `coalesce(sum(CASE WHEN ${condition} THEN 1 ELSE 0 END), 0)`;
      return (
        `SELECT ${at} AS probe, count(*) AS filled, ${count("a = b")} AS same, ${count("a < b")} AS earlier ` +
        `FROM (SELECT ${mine} AS a, ${key} AS b FROM ${prober.tableOf(from.table)} WHERE ${mine} IS NOT NULL LIMIT ${ROWS}) s${at}`
      );
    });
    for (const row of (await prober.query(selects.join(" UNION ALL "))) ?? []) {
      const [at = 0, rows = 0, same = 0, before = 0] = row.map(Number);
      orders.set(batch[at]!.from, { rows, same, before });
    }
  }
  return orders;
}
