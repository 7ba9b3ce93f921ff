import type { ColumnUse, OutputColumn } from "./query-shape.ts";

/** A column of a SELECT's result with its expression. */
export interface ReadOutput extends OutputColumn {
  readonly node?: unknown;
  /** The column that it shows unchanged. */
  readonly use?: ColumnUse;
}
