import { expect, test } from "vitest";
import { conditionsOf, newFilter, withCondition } from "./metric-filter.ts";

test("a new filter of a time covers the last periods; others begin with the choice of a value", () => {
  expect(newFilter({ field: "time", type: "instant" })).toEqual({ field: "time", last: { count: 12, unit: "month" } });
  expect(newFilter({ field: "a", type: "text", values: ["x"] })).toEqual({ field: "a", op: "in", values: [] });
  expect(newFilter({ field: "a", type: "number" })).toEqual({ field: "a", op: "=", value: "" });
  expect(newFilter({ field: "a", type: "boolean" })).toEqual({ field: "a", op: "=", value: true });
});

test("another condition keeps the value where it fits", () => {
  const filter = withCondition({ field: "a", op: "in", values: ["x", "y"] }, "not_in");
  expect(filter).toEqual({ field: "a", op: "not_in", values: ["x", "y"] });
  const text = withCondition(filter, "contains");
  expect(text).toEqual({ field: "a", op: "contains", value: "x" });
  expect(withCondition(text, "in")).toEqual({ field: "a", op: "in", values: ["x"] });
  expect(withCondition({ field: "a", op: "=", value: 5 }, ">=")).toEqual({ field: "a", op: ">=", value: 5 });
  expect(withCondition(text, "is_null")).toEqual({ field: "a", op: "is_null" });
  expect(withCondition({ field: "t", range: "today" }, "between")).toEqual({ field: "t" });
});

test("only times have ranges, and numbers are compared", () => {
  expect(conditionsOf({ type: "day" })).toContain("last_month");
  expect(conditionsOf({ type: "text" })).not.toContain("last_month");
  expect(conditionsOf({ type: "number" })).toContain("<=");
  expect(conditionsOf({ type: "number" })).not.toContain("in");
});
