import type { TableName } from "@tandem/connectors";
import type { Coverage } from "./data/profile.ts";

/** One end of a join: columns paired by index with the other end's. */
export interface JoinEnd {
  table: TableName;
  columns: readonly string[];
}

/** `from` refers to `to`: each row references at most one row there. */
export interface Relationship {
  from: JoinEnd;
  to: JoinEnd;
  /** `declared` by the database, found in `data` and names, or suggested by a `model` and then checked. */
  origin: "declared" | "data" | "model";
  status: "accepted" | "review" | "rejected";
  /** From 0 to 1. */
  confidence: number;
  cardinality: "many-to-one" | "one-to-one";
  /** For polymorphic references: only for rows with this value. */
  when?: { column: string; equals: string };
  /** Arguments for and against it, one sentence each, for people. */
  why: readonly string[];
  /** Measurements, if any. */
  evidence?: {
    /** Distinct values of `from` checked in `to`, and how many were found. */
    checked: number;
    found: number;
    /** Whether these are all values of `from`. */
    of: Coverage;
    nulls: number;
    /** Whether the columns of `to` are unique, by declaration or count. */
    unique: boolean;
  };
}

/** A possible relationship suggested by a model or person. */
export type Suggestion = Pick<Relationship, "from" | "to"> & { why: string };
