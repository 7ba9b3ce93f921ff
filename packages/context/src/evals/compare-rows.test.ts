import { describe, expect, test } from "vitest";
import { type CompareOptions, compareRows, type ResultSet } from "./compare-rows.ts";

const DEFAULTS: CompareOptions = { ordered: false, tolerance: 0.005, extraColumns: "allow", columns: "value" };

const set = (...rows: ResultSet["rows"]): ResultSet => ({ columns: rows[0]?.map((_, i) => `c${i}`) ?? [], rows });

const equal = (expected: ResultSet, actual: ResultSet, options: Partial<CompareOptions> = {}): boolean =>
  compareRows(expected, actual, { ...DEFAULTS, ...options }).equal;

describe("rows are a multiset", () => {
  test("a repeated row counts twice", () => {
    expect(equal(set(["a", 1], ["b", 2]), set(["a", 1], ["a", 1], ["b", 2]))).toBe(false);
    expect(equal(set(["a", 1], ["a", 1], ["b", 2]), set(["a", 1], ["b", 2], ["b", 2]))).toBe(false);
    expect(equal(set(["a", 1], ["a", 1], ["b", 2]), set(["b", 2], ["a", 1], ["a", 1]))).toBe(true);
  });

  test("the order counts only where it is asked for", () => {
    const [expected, actual] = [set(["a", 2], ["b", 1]), set(["b", 1], ["a", 2])];
    expect(equal(expected, actual)).toBe(true);
    expect(equal(expected, actual, { ordered: true })).toBe(false);
    expect(equal(expected, expected, { ordered: true })).toBe(true);
  });

  test("values must belong to the same row", () => {
    expect(equal(set(["a", 1], ["b", 2]), set(["a", 2], ["b", 1]))).toBe(false);
  });

  test("two empty results are equal, an empty and a filled one are not", () => {
    expect(equal(set(), { columns: ["x"], rows: [] })).toBe(true);
    expect(equal(set(), set([null]))).toBe(false);
  });
});

describe("columns", () => {
  test("are matched by value, in any order and with further ones", () => {
    expect(equal(set(["a", 1], ["b", 2]), set([1, "x", "a"], [2, "y", "b"]))).toBe(true);
    expect(equal(set(["a", 1], ["b", 2]), set([1, "x", "a"], [2, "y", "b"]), { extraColumns: "refuse" })).toBe(false);
    expect(equal(set(["a", 1]), set(["a"]))).toBe(false);
  });

  test("with equal values are tried in every combination", () => {
    expect(equal(set([1, 2, "x"], [2, 1, "y"]), set([2, 1, "x"], [1, 2, "y"]))).toBe(true);
    expect(equal(set([1, 2, "x"], [2, 1, "y"]), set([1, 1, "x"], [2, 2, "y"]))).toBe(false);
  });

  test("are matched by name where the file says so", () => {
    const expected = { columns: ["Country", "n"], rows: [["DE", 1]] };
    expect(equal(expected, { columns: ["N", "country"], rows: [[1, "DE"]] }, { columns: "name" })).toBe(true);
    expect(compareRows(expected, { columns: ["x", "n"], rows: [["DE", 1]] }, { ...DEFAULTS, columns: "name" })).toEqual(
      {
        equal: false,
        reason: "no column Country",
      },
    );
  });
});

describe("values", () => {
  test("numbers are equal within the tolerance and not beyond", () => {
    expect(equal(set([12.345]), set([12.35]))).toBe(true);
    expect(equal(set([12.345]), set([12.36]))).toBe(false);
    expect(equal(set([0.25]), set([0.254]), { tolerance: 0.0005 })).toBe(false);
    expect(equal(set([1e12 + 0.1]), set([1e12 + 0.2]), { tolerance: 0 })).toBe(true);
  });

  test("close numbers are matched even where sorting pairs them wrongly", () => {
    const expected = set([1, 10], [1.004, 20]);
    expect(equal(expected, set([1.004, 10], [1, 20]))).toBe(true);
    expect(equal(expected, set([1.004, 10], [1.02, 20]))).toBe(false);
  });

  test("decimals in text, booleans and midnights are compared by meaning; codes are not", () => {
    expect(equal(set(["12.50", true, "2026-01-01"]), set([12.5, 1, "2026-01-01T00:00:00.000Z"]))).toBe(true);
    expect(equal(set(["007"]), set(["7"]))).toBe(false);
    expect(equal(set([7]), set(["7"]))).toBe(false);
    expect(equal(set([null]), set([0]))).toBe(false);
    expect(equal(set(["2026-01-01"]), set(["2026-01-01 12:00:00"]))).toBe(false);
  });
});
