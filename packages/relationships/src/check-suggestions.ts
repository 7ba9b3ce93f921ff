import { nearest } from "@tandem/protocol";
import type { Candidate } from "./join-candidates.ts";
import { nameEvidence } from "./names/name-evidence.ts";
import type { Prober } from "./data/prober.ts";
import type { JoinEnd, Suggestion } from "./relationship.ts";
import { type ColumnFacts, kindFit, type TableFacts, tableId } from "./data/table-facts.ts";
import type { Key } from "./data/key.ts";
import type { Vocabulary } from "./names/vocabulary.ts";

/** Several columns suggested as a reference to as many. */
export interface SuggestedComposite {
  from: readonly ColumnFacts[];
  key: Key;
  why: string;
}

export interface CheckedSuggestions {
  candidates: Candidate[];
  composites: SuggestedComposite[];
  unusable: { suggestion: Suggestion; reason: string }[];
}

/** Converts suggestions to candidates, or returns them with the reason why they are unusable. */
export async function checkSuggestions(
  suggestions: readonly Suggestion[],
  tables: readonly TableFacts[],
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
  { vocabulary, prober }: { vocabulary: Vocabulary; prober: Prober },
): Promise<CheckedSuggestions> {
  const byId = new Map(tables.map((table) => [table.id, table]));
  const checked: CheckedSuggestions = { candidates: [], composites: [], unusable: [] };
  for (const suggestion of suggestions) {
    const reason = await read(suggestion);
    if (reason !== undefined) checked.unusable.push({ suggestion, reason });
  }
  return checked;

  /** Returns why it is unusable, if it is. */
  async function read(suggestion: Suggestion): Promise<string | undefined> {
    const from = columnsAt(suggestion.from);
    const to = columnsAt(suggestion.to);
    if (typeof from === "string") return from;
    if (typeof to === "string") return to;
    if (from.length !== to.length || from.length === 0) return "Both ends must have as many columns.";
    if (from.every((column, i) => column === to[i])) return "Both ends are the same column.";
    const apart = from.findIndex((column, i) => kindFit(column, to[i]!) === 0);
    if (apart !== -1)
      return `${from[apart]!.name} is ${from[apart]!.kind} and ${to[apart]!.name} is ${to[apart]!.kind}.`;
    const key = keys.get(to[0]!.table)?.find((each) => hasColumns(each, to)) ?? (await countedKey(to, prober));
    if (!key) return `${to[0]!.table.name.name}.${to.map(({ name }) => name).join(", ")} is not unique.`;
    const why = suggestion.why || "It was suggested.";
    // In key order, so that it matches the same link found by names.
    const paired = key.columns.map((column) => from[to.indexOf(column)]!);
    if (paired.length > 1) checked.composites.push({ from: paired, key, why });
    else {
      const name = nameEvidence(paired[0]!, key, vocabulary);
      checked.candidates.push({ from: paired[0]!, key, to: key.columns[0]!, name, suggestion: why });
    }
    return undefined;
  }

  function columnsAt({ table, columns }: JoinEnd): ColumnFacts[] | string {
    const facts = byId.get(tableId(table));
    if (!facts) return `There is no table ${table.schema}.${table.name}.`;
    const found: ColumnFacts[] = [];
    for (const name of columns) {
      const close = nearest(name, [...facts.byName.keys()]);
      const column = facts.byName.get(name);
      if (!column) return `${table.name} has no column ${name}${close ? `; did you mean ${close}?` : "."}`;
      found.push(column);
    }
    return found;
  }
}

const hasColumns = ({ columns }: Key, others: readonly ColumnFacts[]): boolean =>
  columns.length === others.length && columns.every((column) => others.includes(column));

/** A combination of columns that is unique by count. Single columns were checked already. */
async function countedKey(columns: readonly ColumnFacts[], prober: Prober): Promise<Key | undefined> {
  const { table } = columns[0]!;
  if (columns.length < 2 || new Set(columns).size < columns.length || !table.rows) return undefined;
  const names = columns.map(({ name }) => prober.quote(name)).join(", ");
  const rows = await prober.query(
    `SELECT count(*) FROM (SELECT 1 AS one FROM ${prober.tableOf(table)} GROUP BY ${names} HAVING count(*) > 1 LIMIT 1) twice`,
  );
  return rows && Number(rows[0]![0]) === 0 ? { table, columns, primary: false, unique: "counted" } : undefined;
}
