import type { ColumnKind, Table, TableName } from "@tandem/connectors";
import type { ColumnProfile, TableProfile } from "./profile.ts";

/** A column with all known facts. */
export interface ColumnFacts {
  table: TableFacts;
  name: string;
  position: number;
  /** By its values if the declared type is too vague. */
  kind: ColumnKind;
  /** The declared kind: columns of two kinds need a cast to compare. */
  declaredKind: ColumnKind;
  nullable: boolean;
  profile: ColumnProfile | undefined;
  /** Rows with a value, if known. */
  filled: number;
  min: number | undefined;
  max: number | undefined;
}

export interface TableFacts {
  name: TableName;
  id: string;
  table: Table;
  columns: readonly ColumnFacts[];
  byName: ReadonlyMap<string, ColumnFacts>;
  /** Undefined if the table could not be read. */
  rows: number | undefined;
  /** All rows were read, so counts are exact. */
  seenWhole: boolean;
}

export const tableId = ({ schema, name }: TableName): string => JSON.stringify([schema, name]);

export function tableFacts(table: Table, profile: TableProfile | undefined): TableFacts {
  const facts = {
    name: { schema: table.schema, name: table.name },
    id: tableId(table),
    table,
    rows: profile?.rows,
    seenWhole: profile !== undefined && profile.sampled >= profile.rows,
  } as TableFacts;
  const profiles = new Map(profile?.columns.map((column) => [column.name, column]));
  facts.columns = table.columns.map(({ name, kind, nullable }, position) => {
    const column = profiles.get(name);
    return {
      table: facts,
      name,
      position,
      kind: kindByValues(kind, column),
      declaredKind: kind,
      nullable,
      profile: column,
      filled: Math.round((profile?.rows ?? 0) * (1 - (column?.nulls ?? 0))),
      min: numberOf(column?.min),
      max: numberOf(column?.max),
    };
  });
  facts.byName = new Map(facts.columns.map((column) => [column.name, column]));
  return facts;
}

const UUID = /^[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}$/i;
const WHOLE = /^-?\d+$/;

/** NUMERIC columns with whole numbers are integers, and text that looks like UUIDs is UUIDs. */
function kindByValues(kind: ColumnKind, profile: ColumnProfile | undefined): ColumnKind {
  const samples = profile?.samples ?? [];
  if (samples.length === 0) return kind;
  if (kind === "text") return samples.every((value) => UUID.test(String(value))) ? "uuid" : kind;
  if (kind !== "other" && kind !== "decimal") return kind;
  if (samples.every((value) => typeof value !== "boolean" && WHOLE.test(String(value)))) return "integer";
  return kind === "other" && samples.every((value) => typeof value === "string") ? "text" : kind;
}

const numberOf = (value: unknown): number | undefined => {
  if (typeof value === "number") return value;
  return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : undefined;
};

const numericTexts = new WeakMap<ColumnFacts, boolean>();

/** Text with whole numbers, as in legacy systems. Memoised, because it is checked for every pair of columns. */
export function isNumericText(column: ColumnFacts): boolean {
  let numeric = numericTexts.get(column);
  if (numeric === undefined) {
    const samples = column.kind === "text" ? (column.profile?.samples ?? []) : [];
    numeric = samples.length > 0 && samples.every((value) => WHOLE.test(String(value)));
    numericTexts.set(column, numeric);
  }
  return numeric;
}

/** Whether values of both kinds can match: 1 the same kind, 0 never. */
export function kindFit(a: ColumnFacts, b: ColumnFacts): number {
  if (!CAN_IDENTIFY.has(a.kind) || !CAN_IDENTIFY.has(b.kind)) return 0;
  if (a.kind === b.kind) return 1;
  const has = (kind: ColumnKind) => a.kind === kind || b.kind === kind;
  if (has("other")) return 0.8;
  if (has("uuid")) return has("text") && (a.profile?.distinct ?? 0) * (b.profile?.distinct ?? 0) === 0 ? 0.9 : 0;
  if (has("integer") && has("text")) return isNumericText(a.kind === "text" ? a : b) ? 0.8 : 0;
  if (has("integer") && has("decimal")) return a.filled === 0 || b.filled === 0 ? 0.7 : 0;
  return 0;
}

const CAN_IDENTIFY: ReadonlySet<ColumnKind> = new Set([
  "integer",
  "decimal",
  "text",
  "uuid",
  "date",
  "binary",
  "other",
]);
