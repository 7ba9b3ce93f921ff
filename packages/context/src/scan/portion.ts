import type { Column } from "@tandem/connectors";
import { asData, cut } from "./as-data.ts";
import type { BatchLimits } from "../runs/in-batches.ts";
import { profileOf, type ScannedTable } from "../privacy/scanned-table.ts";

// A wide table is described in portions: an answer about hundreds of columns would exceed the output limit.
const COLUMNS_PER_PORTION = 60;

const CHARACTERS_PER_CALL = 40_000;
const COLUMNS_PER_CALL = 150;

const MAX_VALUE = 40;
const MAX_COMMENT = 300;
const SAMPLES = 5;
const OTHER_NAMES = 100;

/** Limits of one call: prompt characters, and columns, because the answer grows with them. */
export type PortionLimits = BatchLimits<"characters" | "columns">;

/** A part of a table to describe: some columns, with or without the table itself. */
export interface Portion {
  scanned: ScannedTable;
  columns: readonly Column[];
  wantsTable: boolean;
}

/** If only some parts are missing, only those are requested. */
export function portionsOf(
  scanned: ScannedTable,
  wants: { table: boolean; columns: ReadonlySet<string> },
): readonly Portion[] {
  const columns = scanned.table.columns.filter(({ name }) => wants.columns.has(name));
  const portions: Portion[] = [];
  for (let from = 0; from < columns.length; from += COLUMNS_PER_PORTION) {
    const slice = columns.slice(from, from + COLUMNS_PER_PORTION);
    portions.push({ scanned, columns: slice, wantsTable: wants.table && from === 0 });
  }
  if (portions.length === 0 && wants.table) return [{ scanned, columns: [], wantsTable: true }];
  return portions;
}

/** One line of the prompt. */
export function renderPortion({ scanned, columns, wantsTable }: Portion): string {
  const { table, profile } = scanned;
  const others = table.columns.filter((column) => !columns.includes(column)).map(({ name }) => name);
  return asData({
    schema: table.schema,
    table: table.name,
    ...(table.type === "view" && { type: "view" }),
    ...(table.comment && { comment: cut(table.comment, MAX_COMMENT) }),
    ...(profile && { rows: profile.rows }),
    ...(table.primaryKey.length > 0 && { primaryKey: table.primaryKey }),
    ...(table.foreignKeys.length > 0 && {
      references: table.foreignKeys.map(({ columns, to, toColumns }) => ({
        columns,
        to: [to.schema, to.name],
        toColumns,
      })),
    }),
    ...(!wantsTable && { describe: "columns only" }),
    columns: columns.map((column) => renderColumn(scanned, column)),
    ...(others.length > 0 && { otherColumns: others.slice(0, OTHER_NAMES) }),
  });
}

function renderColumn(scanned: ScannedTable, { name, type, kind, comment }: Column) {
  const profile = profileOf(scanned, name);
  const samples = profile?.samples.filter((value) => value !== null).slice(0, SAMPLES) ?? [];
  return {
    name,
    type: type || kind,
    ...(comment && { comment: cut(comment, MAX_COMMENT) }),
    ...(profile?.unique && profile.distinct > 1 && { unique: true }),
    ...(samples.length > 0 && {
      samples: samples.map((value) => (typeof value === "string" ? cut(value, MAX_VALUE) : value)),
    }),
    ...(profile?.shapes && { shapesOfValues: profile.shapes }),
  };
}

export const descriptionLimits = (tablesPerCall: number): PortionLimits => ({
  items: tablesPerCall,
  characters: CHARACTERS_PER_CALL,
  columns: COLUMNS_PER_CALL,
});

export const portionSize = (portion: Portion) => ({
  characters: renderPortion(portion).length,
  columns: portion.columns.length,
});
