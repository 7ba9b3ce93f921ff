import type { Value } from "@tandem/connectors";
import { matchRows } from "./match-rows.ts";

export interface ResultSet {
  /** Empty if a file gives rows without names. */
  columns: readonly string[];
  rows: readonly (readonly Value[])[];
}

export interface CompareOptions {
  /** Whether the order of the rows counts. */
  ordered: boolean;
  /** The largest difference between two numbers that count as equal. */
  tolerance: number;
  extraColumns: "allow" | "refuse";
  /** `value`: columns are matched by what they contain, in any order and under any name. */
  columns: "value" | "name";
}

export type Comparison = { equal: true } | { equal: false; reason: string };

/** Assignments of columns that are tried; results with many equal columns have more. */
const MOST_ASSIGNMENTS = 500;

/**
 * Compares two results as multisets of rows: a row that appears twice counts twice, so that a join that repeats rows is
 * never called right.
 */
export function compareRows(expected: ResultSet, actual: ResultSet, options: CompareOptions): Comparison {
  if (expected.rows.length !== actual.rows.length) {
    return differs(`${countOf(actual.rows.length)} instead of ${expected.rows.length}`);
  }
  const width = widthOf(expected);
  const given = widthOf(actual);
  // An empty result has no values to compare.
  if (expected.rows.length === 0) return { equal: true };
  if (given < width) return differs(`${given} columns instead of ${width}`);
  if (given > width && options.extraColumns === "refuse") return differs(`${given - width} columns too many`);
  if (options.columns === "name") return compareByName(expected, actual, options);
  return compareByValue(expected, actual, options);
}

function compareByName(expected: ResultSet, actual: ResultSet, options: CompareOptions): Comparison {
  const names = actual.columns.map((name) => name.toLowerCase());
  const assignment = expected.columns.map((name) => names.indexOf(name.toLowerCase()));
  const missing = expected.columns.filter((_, index) => assignment[index] === -1);
  if (missing.length > 0) return differs(`no column ${missing.join(", ")}`);
  return matchRows(expected.rows, project(actual.rows, assignment), options)
    ? { equal: true }
    : differs(firstDifference(expected.rows, project(actual.rows, assignment), options));
}

function compareByValue(expected: ResultSet, actual: ResultSet, options: CompareOptions): Comparison {
  const candidates = Array.from({ length: widthOf(expected) }, (_, column) => {
    const wanted = project(expected.rows, [column]);
    return Array.from({ length: widthOf(actual) }, (_, index) => index).filter((index) =>
      matchRows(wanted, project(actual.rows, [index]), options),
    );
  });
  const lost = candidates.findIndex((list) => list.length === 0);
  if (lost >= 0) {
    const name = expected.columns[lost] ?? `column ${lost + 1}`;
    const order = options.ordered ? " in the expected order" : "";
    return differs(`no column has the values of ${name}${order}`);
  }
  let tried = 0;
  const fits = (assignment: readonly number[]): boolean => {
    if (tried >= MOST_ASSIGNMENTS) return false;
    if (assignment.length === candidates.length) {
      tried += 1;
      return matchRows(expected.rows, project(actual.rows, assignment), options);
    }
    return candidates[assignment.length]!.some((index) => !assignment.includes(index) && fits([...assignment, index]));
  };
  return fits([]) ? { equal: true } : differs("the values are combined to other rows");
}

const project = (rows: ResultSet["rows"], columns: readonly number[]): Value[][] =>
  rows.map((row) => columns.map((column) => row[column] ?? null));

const widthOf = ({ columns, rows }: ResultSet): number => rows[0]?.length ?? columns.length;

function firstDifference(expected: ResultSet["rows"], actual: ResultSet["rows"], options: CompareOptions): string {
  const row = expected.find((each) => !actual.some((other) => matchRows([each], [other], options)));
  return row ? `the row ${JSON.stringify(row)} is missing` : options.ordered ? "another order" : "other repetitions";
}

const differs = (reason: string): Comparison => ({ equal: false, reason });

const countOf = (rows: number): string => (rows === 1 ? "1 row" : `${rows} rows`);
