import type { TableName } from "@tandem/connectors";

/** One end of a join: columns of a table, paired in order with those of the other end. */
export interface JoinEnd {
  table: TableName;
  columns: readonly string[];
}

/** `from` refers to `to`: each of its rows names at most one row there. */
export interface Relationship {
  from: JoinEnd;
  to: JoinEnd;
  /** `declared` by the database, found in the `data` and names, or named by a `model` and then checked. */
  origin: "declared" | "data" | "model";
  status: "accepted" | "review" | "rejected";
  /** From 0 to 1. */
  confidence: number;
  cardinality: "many-to-one" | "one-to-one";
  /** For polymorphic references: holds only for rows in which this column has this value. */
  when?: { column: string; equals: string };
  /** What speaks for and against it, one sentence each, in words for people. */
  why: readonly string[];
  /** What was measured, where it was. */
  evidence?: {
    /** Distinct values of `from` that were looked for in `to`, and how many were found. */
    checked: number;
    found: number;
    nulls: number;
    /** Whether the columns of `to` were unique, by declaration or by count. */
    unique: boolean;
  };
}

/** What somebody, a model for example, thinks could be one. */
export type Suggestion = Pick<Relationship, "from" | "to"> & { why: string };
