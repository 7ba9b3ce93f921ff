import { columnSentence, type DescriptionAnswer, tableSentence } from "./description-prompt.ts";
import type { Portion } from "./portion.ts";
import { tableKey } from "../privacy/scanned-table.ts";

/** Known descriptions of a table; missing ones are absent. */
export interface TableDescription {
  table: string;
  columns: Map<string, string>;
}

/**
 * Adds requested descriptions from an answer to `known`. Never replaces existing ones, ignores empty texts, and drops
 * unrequested entries; returns their number.
 */
export function readDescriptions(
  answer: DescriptionAnswer,
  asked: readonly Portion[],
  known: ReadonlyMap<string, TableDescription>,
): number {
  const expected = new Map<string, { wantsTable: boolean; columns: Set<string> }>();
  for (const { scanned, columns, wantsTable } of asked) {
    const key = tableKey(scanned.table);
    const entry = expected.get(key) ?? { wantsTable: false, columns: new Set() };
    entry.wantsTable ||= wantsTable;
    for (const { name } of columns) entry.columns.add(name);
    expected.set(key, entry);
  }
  let dropped = 0;
  for (const { schema, table, description, columns } of answer.tables) {
    const key = tableKey({ schema, name: table });
    const entry = expected.get(key);
    const place = known.get(key);
    if (!entry || !place) {
      dropped += 1;
      continue;
    }
    if (entry.wantsTable) place.table ||= tableSentence(description);
    for (const { name, description } of columns) {
      const text = columnSentence(description);
      if (!entry.columns.has(name)) dropped += 1;
      else if (text !== "" && !place.columns.has(name)) place.columns.set(name, text);
    }
  }
  return dropped;
}
