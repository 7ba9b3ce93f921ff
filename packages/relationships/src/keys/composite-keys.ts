import type { Prober } from "../data/prober.ts";
import type { ColumnFacts, TableFacts } from "../data/table-facts.ts";
import type { Key } from "../data/key.ts";
import type { Vocabulary } from "../names/vocabulary.ts";

const COLUMNS_TO_TRY = 5;

/** For tables without a key: the first two to four columns that together are unique. */
export async function discoverCompositeKeys(
  tables: readonly TableFacts[],
  keys: Map<TableFacts, Key[]>,
  { vocabulary, prober }: { vocabulary: Vocabulary; prober: Prober },
): Promise<void> {
  for (const table of tables) {
    const primary = keys.get(table)?.find((key) => key.primary);
    if (!table.rows || (primary && !isWeak(primary, vocabulary))) continue;
    const usable = table.columns.filter(canBePart).slice(0, COLUMNS_TO_TRY);
    const sets = combinations(usable).filter(
      (columns) => couldTellApart(columns, table.rows!) && (!primary || leads(columns, vocabulary)),
    );
    if (sets.length === 0) continue;
    const rows = await prober.query(
      sets
        .map((columns, i) => {
          const names = columns.map(({ name }) => prober.quote(name)).join(", ");
          return `SELECT ${i} AS probe, count(*) AS found FROM (SELECT DISTINCT ${names} FROM ${prober.tableOf(table)}) s${i}`;
        })
        .join(" UNION ALL "),
    );
    const counts = new Map(rows?.map(([i, count]) => [Number(i), Number(count)]));
    const columns = sets.find((_, i) => counts.get(i) === table.rows);
    if (columns && primary) primary.primary = false;
    if (columns) keys.set(table, [{ table, columns, primary: true, unique: "counted" }, ...(keys.get(table) ?? [])]);
  }
}

/** An email address or name that is unique by chance, beside a composite key. */
const isWeak = ({ unique, columns }: Key, vocabulary: Vocabulary): boolean =>
  unique === "counted" && columns[0]!.position > 1 && !identifies(columns[0]!, vocabulary);

/** (tenant_id, id): leading columns that each look like identifiers. */
const leads = (columns: readonly ColumnFacts[], vocabulary: Vocabulary): boolean =>
  columns.every((column, i) => column.position === i && identifies(column, vocabulary));

const identifies = (column: ColumnFacts, vocabulary: Vocabulary): boolean =>
  vocabulary.read(column).some(({ idWords }) => idWords.length > 0);

const canBePart = ({ kind, profile }: ColumnFacts): boolean =>
  (kind === "integer" || kind === "text" || kind === "uuid" || kind === "date") &&
  (profile?.nulls ?? 0) === 0 &&
  (profile?.lengths?.[1] ?? 0) <= 60;

const couldTellApart = (columns: readonly ColumnFacts[], rows: number): boolean =>
  columns.reduce((product, { profile }) => product * Math.max(1, profile?.distinct ?? 1), 1) >= rows;

/** Pairs before triples, and leading columns first. */
function combinations(columns: readonly ColumnFacts[]): ColumnFacts[][] {
  let sets: ColumnFacts[][] = columns.map((column) => [column]);
  const all: ColumnFacts[][] = [];
  for (let size = 2; size <= Math.min(4, columns.length); size++) {
    sets = sets.flatMap((set) => columns.slice(columns.indexOf(set.at(-1)!) + 1).map((column) => [...set, column]));
    all.push(...sets);
  }
  return all;
}
