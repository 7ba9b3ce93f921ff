import type { Table } from "@tandem/connectors";

/** Databases quote values in error messages, which end up in events and logs: keeps only quoted names of the schema. */
export function messageWithoutValues(message: string, tables: readonly Table[]): string {
  return message.replaceAll(/(["'`])(.*?)\1|=\((.*?)\)/gsu, (quoted, mark: string | undefined, text: string) => {
    if (mark === undefined) return "=(…)";
    return isName(text, tables) ? quoted : `${mark}…${mark}`;
  });
}

const isName = (text: string, tables: readonly Table[]): boolean =>
  tables.some(
    ({ schema, name, columns }) =>
      [schema, name, `${schema}.${name}`].includes(text) ||
      columns.some((column) => column.name === text || column.type === text),
  );
