import type { Table } from "@tandem/connectors";
import { isStale } from "../catalogue/stale-description.ts";
import type { Descriptions, TableFile } from "../catalogue/table-file.ts";

export interface MissingDescriptions {
  table: boolean;
  columns: ReadonlySet<string>;
}

/**
 * Selects what a model should describe: undescribed parts, and parts that changed since. Uses only the file, so that a
 * fresh clone of a context requests nothing. A person's text is left alone.
 */
export function wantedDescriptions(table: Table, file: TableFile | undefined): MissingDescriptions {
  const before = new Map(file?.columns.filter(({ gone }) => !gone).map((column) => [column.name, column]));
  const names = new Set(table.columns.map(({ name }) => name));
  const columns = table.columns.filter(({ name, type }) => {
    const entry = before.get(name);
    return isWanted(entry?.descriptions, entry?.type !== type || isStale(entry));
  });
  const hasOthers =
    table.columns.some(({ name }) => !before.has(name)) || [...before.keys()].some((name) => !names.has(name));
  return { table: isWanted(file?.descriptions, hasOthers), columns: new Set(columns.map(({ name }) => name)) };
}

const isWanted = (texts: Descriptions | undefined, hasChanged: boolean): boolean =>
  !texts?.human && (!texts?.ai || hasChanged);
