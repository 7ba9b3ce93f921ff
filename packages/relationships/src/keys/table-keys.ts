import { DESCRIPTIVE_WORDS, MEASURE_WORDS } from "../names/lexicon.ts";
import type { Key } from "../data/key.ts";
import type { ColumnFacts, TableFacts } from "../data/table-facts.ts";
import type { Vocabulary } from "../names/vocabulary.ts";
import { likeness } from "../names/name-words.ts";

const ALTERNATES = 12;

/** Declared keys, or those suggested by names and values. Primary key first. */
export function keysOf(table: TableFacts, vocabulary: Vocabulary): Key[] {
  const keys: Key[] = [];
  const add = (names: readonly string[], unique: Key["unique"], primary = false) => {
    const columns = names.map((name) => table.byName.get(name)).filter((column) => column !== undefined);
    const known = keys.some((key) => sameColumns(key.columns, columns));
    if (columns.length === names.length && columns.length > 0 && !known) keys.push({ table, columns, primary, unique });
  };
  const { primaryKey, uniqueKeys } = table.table;
  if (primaryKey.length > 0) add(primaryKey, "declared", true);
  for (const unique of uniqueKeys) add(unique, "declared");
  const candidates = table.columns
    .filter((column) => couldBeKey(column))
    .map((column) => ({ column, score: keyLikeness(column, vocabulary) }))
    .toSorted((a, b) => b.score - a.score);
  const [best] = candidates;
  const unique = table.rows ? "counted" : "assumed";
  if (best && primaryKey.length === 0) {
    const declared = keys.find((key) => key.columns.length === 1 && key.columns[0] === best.column);
    if (declared) declared.primary = true;
    // Without rows every column could be a key; only its name decides.
    else if (table.rows ? best.score > -1 : best.score >= 1.5) add([best.column.name], unique, true);
  }
  if (table.rows) {
    // In a table of a few rows almost every column is unique: only those most like a key are worth a comparison.
    for (const { column, score } of candidates.slice(0, ALTERNATES)) if (score > -1) add([column.name], "counted");
  }
  const main = keys.find((key) => key.primary && key.columns.length === 1)?.columns[0];
  if (main) for (const key of keys) if (!key.primary) key.beside = main;
  return keys.toSorted((a, b) => Number(b.primary) - Number(a.primary));
}

const sameColumns = (a: readonly ColumnFacts[], b: readonly ColumnFacts[]): boolean =>
  a.length === b.length && a.every((column) => b.includes(column));

function couldBeKey({ kind, profile, table }: ColumnFacts): boolean {
  if (kind === "boolean" || kind === "json" || kind === "binary" || kind === "decimal" || kind === "time") return false;
  if (kind === "date") return false;
  if (!table.rows || !profile) return true;
  return profile.unique && profile.nulls === 0 && (profile.lengths?.[1] ?? 0) <= 120;
}

/** How much a column looks like its table's identifier. */
function keyLikeness(column: ColumnFacts, vocabulary: Vocabulary): number {
  const own = vocabulary.entitiesOf(column.table);
  const scores = vocabulary.read(column).map(({ words, entity, idWords }) => {
    const says = idWords.length > 0;
    const mine =
      entity.length > 0 &&
      own.some((name) => entity.every((word) => name.words.some((each) => likeness(word, each) >= 0.55)));
    if (says && entity.length === 0) return 2.5;
    if (says && mine) return 3;
    if (says) return 1;
    if (words.some((word) => DESCRIPTIVE_WORDS.has(word) || MEASURE_WORDS.has(word))) return -1.5;
    return mine ? 0.8 : 0;
  });
  let score = Math.max(...scores);
  if (column.position === 0) score += 1.5;
  else score -= Math.min(1, column.position * 0.2);
  if (column.kind === "integer" || column.kind === "uuid") score += 0.5;
  if (column.kind === "text" && (column.profile?.lengths?.[1] ?? 0) > 40) score -= 1;
  if (column.nullable && column.table.table.primaryKey.length > 0) score -= 0.2;
  return score;
}
