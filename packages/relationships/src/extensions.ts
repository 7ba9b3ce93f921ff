import type { Candidate } from "./join-candidates.ts";
import { type ColumnFacts, kindFit, type TableFacts } from "./data/table-facts.ts";
import type { Key } from "./data/key.ts";
import { density } from "./data/value-evidence.ts";
import { isSatellite, type Vocabulary } from "./names/vocabulary.ts";

/**
 * user_profile.id for user.id: a table that shares its key with another whose name is its prefix. Only if the key's
 * values are distinctive: with keys that count from 1, order_status would look like an extension of orders.
 */
export function extensionCandidates(
  tables: readonly TableFacts[],
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
  vocabulary: Vocabulary,
): Candidate[] {
  const single = (table: TableFacts) => keys.get(table)?.find((key) => key.primary && key.columns.length === 1);
  return tables.flatMap((table) => {
    const own = single(table);
    const from = own?.columns[0];
    if (!from || !table.rows || vocabulary.read(from).some(({ entity }) => entity.length > 0)) return [];
    const shared = isLongCode(from) && table.rows >= 10 ? sharedKeys(from, keys) : [];
    if (shared.length > 0) return shared;
    return tables.flatMap((other): Candidate[] => {
      const key = other === table ? undefined : single(other);
      const to = key?.columns[0];
      if (!key || !to || kindFit(from, to) < 1 || (other.rows ?? 0) < table.rows!) return [];
      if (to.kind === "integer" && density(to) > 0.5) return [];
      const name = { score: 0.6, says: "is the other's too, and so is the beginning of its table's name", role: [] };
      return isSatellite(table, other, vocabulary) ? [{ from, key, to, name }] : [];
    });
  });
}

/** Codes of four or more letters that are all found elsewhere are no coincidence. */
const isLongCode = ({ kind, profile }: ColumnFacts): boolean =>
  kind === "uuid" || (kind === "text" && (profile?.lengths?.[0] ?? 0) >= 4);

const MAX_OWNERS = 2;

/** stock.ref for product.ref, where that is a key too and has more rows. */
function sharedKeys(from: ColumnFacts, keys: ReadonlyMap<TableFacts, readonly Key[]>): Candidate[] {
  // A key name shared by many tables points to none of them.
  const owners = [...keys.values()].flat().filter(({ primary, columns }) => primary && columns[0]!.name === from.name);
  if (owners.length > MAX_OWNERS) return [];
  const name = { score: 0.6, says: "is the other's too", role: [] };
  return [...keys.values()].flat().flatMap((key): Candidate[] => {
    const [to] = key.columns;
    if (!to || key.columns.length > 1 || key.table === from.table || (key.table.rows ?? 0) <= from.table.rows!)
      return [];
    return to.name === from.name && kindFit(from, to) === 1 ? [{ from, key, to, name }] : [];
  });
}
