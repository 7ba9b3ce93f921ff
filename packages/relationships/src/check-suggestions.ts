import { nearest } from "@tandem/protocol";
import type { Candidate } from "./candidates.ts";
import { nameEvidence } from "./name-evidence.ts";
import type { JoinEnd, Suggestion } from "./relationship.ts";
import { type ColumnFacts, kindFit, type TableFacts, tableId } from "./table-facts.ts";
import type { Key } from "./table-keys.ts";
import type { Vocabulary } from "./vocabulary.ts";

export interface CheckedSuggestions {
  candidates: Candidate[];
  unusable: { suggestion: Suggestion; reason: string }[];
}

/** Suggestions become candidates like any other, or are given back with the reason why they cannot. */
export function checkSuggestions(
  suggestions: readonly Suggestion[],
  tables: readonly TableFacts[],
  keys: ReadonlyMap<TableFacts, readonly Key[]>,
  vocabulary: Vocabulary,
): CheckedSuggestions {
  const byId = new Map(tables.map((table) => [table.id, table]));
  const checked: CheckedSuggestions = { candidates: [], unusable: [] };
  for (const suggestion of suggestions) {
    const result = read(suggestion);
    if (typeof result === "string") checked.unusable.push({ suggestion, reason: result });
    else checked.candidates.push(result);
  }
  return checked;

  function read(suggestion: Suggestion): Candidate | string {
    const from = columnAt(suggestion.from);
    const to = columnAt(suggestion.to);
    if (typeof from === "string") return from;
    if (typeof to === "string") return to;
    if (from === to) return "Both ends are the same column.";
    if (kindFit(from, to) === 0) return `${from.name} is ${from.kind} and ${to.name} is ${to.kind}.`;
    const key = keys.get(to.table)?.find(({ columns }) => columns.length === 1 && columns[0] === to);
    if (!key) return `${to.table.name.name}.${to.name} is not unique.`;
    const name = nameEvidence(from, key, vocabulary);
    return { from, key, to, name, suggestion: suggestion.why || "It was suggested." };
  }

  function columnAt({ table, columns }: JoinEnd): ColumnFacts | string {
    const facts = byId.get(tableId(table));
    if (!facts) return `There is no table ${table.schema}.${table.name}.`;
    if (columns.length !== 1) return "Only links of one column can be suggested.";
    const name = columns[0]!;
    const close = nearest(name, [...facts.byName.keys()]);
    return facts.byName.get(name) ?? `${table.name} has no column ${name}${close ? `; did you mean ${close}?` : "."}`;
  }
}
