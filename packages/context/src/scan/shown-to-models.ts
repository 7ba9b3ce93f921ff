import type { Table } from "@tandem/connectors";
import type { ColumnProfile } from "@tandem/relationships";
import { suspicionOf, suspicionOfName } from "../untrusted/suspicion.ts";
import type { ScannedTable } from "../privacy/scanned-table.ts";

/**
 * Removes suspected prompt injections: such comments, values and columns never reach a prompt, and a table with such a
 * name is left out. People see them in the proposal.
 */
export const shownToModels = (tables: readonly ScannedTable[]): ScannedTable[] =>
  tables.flatMap(({ table, profile }) =>
    isPlain(table.schema, table.name)
      ? [
          {
            table: withoutSuspicious(table),
            profile: profile && { ...profile, columns: profile.columns.filter(isShown).map(withoutValues) },
          },
        ]
      : [],
  );

function withoutSuspicious(table: Table): Table {
  const { columns, primaryKey, uniqueKeys, foreignKeys } = table;
  return {
    ...table,
    comment: shownComment(table.comment),
    columns: columns.filter(isShown).map((column) => ({ ...column, comment: shownComment(column.comment) })),
    primaryKey: isPlain(...primaryKey) ? primaryKey : [],
    uniqueKeys: uniqueKeys.filter((key) => isPlain(...key)),
    foreignKeys: foreignKeys.filter(({ columns: own, to, toColumns }) =>
      isPlain(...own, to.schema, to.name, ...toColumns),
    ),
  };
}

const isPlain = (...names: readonly string[]): boolean => names.every((name) => suspicionOfName(name) === null);
const isShown = ({ name, type = "" }: { name: string; type?: string }): boolean => isPlain(name, type);
const shownComment = (comment: string | undefined): string | undefined =>
  comment === undefined || suspicionOf(comment) === null ? comment : undefined;

function withoutValues(column: ColumnProfile): ColumnProfile {
  const samples = column.samples.filter((value) => typeof value !== "string" || suspicionOf(value) === null);
  return samples.length === column.samples.length ? column : { ...column, samples };
}
