import type { Value } from "./connection.ts";

/** A statement with its parameters; both engines take `?`. */
export interface CopyStatement {
  sql: string;
  parameters: readonly Value[];
}
