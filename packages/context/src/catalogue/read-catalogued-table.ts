import { columnKind } from "@tandem/connectors";
import type { CataloguedTable } from "@tandem/metrics";
import type { TableFile } from "./table-file.ts";

/** The verified facts of a catalogue file that metrics and verdicts are built on. */
export function readCataloguedTable(file: TableFile): CataloguedTable {
  const columns = file.columns.filter(({ gone }) => !gone);
  const hasNulls = (names: readonly string[]): boolean =>
    columns.some(({ name, profile }) => names.includes(name) && (profile?.nulls ?? 0) > 0);
  const verified = (file.verifiedKeys ?? []).flatMap(({ columns: key, of }) => (of === "all" ? [key] : []));
  return {
    schema: file.schema,
    name: file.table,
    columns: columns.map(({ name, type, nullable }) => ({
      name,
      type,
      kind: columnKind(type),
      ...(nullable === true && { isNullable: true }),
    })),
    keys: [file.primaryKey ?? [], ...(file.uniqueKeys ?? []), ...verified].filter((key) => key.length > 0),
    ...(verified.length > 0 && { observedKeys: verified }),
    joins: (file.joins ?? []).map(({ columns: from, to, toColumns, evidence, when }) => {
      const dot = to.indexOf(".");
      return {
        columns: from,
        to: { schema: to.slice(0, dot), name: to.slice(dot + 1) },
        toColumns,
        hasUnmatched: hasNulls(from) || (evidence !== undefined && evidence.matched < evidence.compared),
        ...(when && { when }),
      };
    }),
  };
}
