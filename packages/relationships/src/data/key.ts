import { type ColumnFacts, kindFit, type TableFacts } from "./table-facts.ts";

/** Columns that identify a table's rows. */
export interface Key {
  table: TableFacts;
  columns: readonly ColumnFacts[];
  /** The most likely target of references; others are alternates. */
  primary: boolean;
  /** `counted`: no duplicate in the sample. `assumed`: there are no rows. */
  unique: "declared" | "counted" | "assumed";
  /** For an alternate: the single-column primary key. */
  beside?: ColumnFacts;
}

/** The key that a column of this type would reference: the primary key, or an alternate if the types differ. */
export const isMainFor = (key: Key, from: ColumnFacts): boolean =>
  key.primary || (key.beside !== undefined && kindFit(from, key.beside) === 0);
