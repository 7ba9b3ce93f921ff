import { metricQuery } from "@tandem/protocol";
import { describe, expect, test } from "vitest";
import { parseFilter } from "./parse-filter.ts";

describe("a filter of the command line", () => {
  test.each([
    ["status = paid", { field: "status", op: "=", value: "paid" }],
    ["customer.segment<>'home, office'", { field: "customer.segment", op: "!=", value: "home, office" }],
    ["revenue >= 100.5", { field: "revenue", op: ">=", value: "100.5" }],
    ["name = 'O''Hara'", { field: "name", op: "=", value: "O'Hara" }],
    ["channel in web, shop", { field: "channel", op: "in", values: ["web", "shop"] }],
    ['channel not in "a,b", c', { field: "channel", op: "not_in", values: ["a,b", "c"] }],
    ["name contains green tea", { field: "name", op: "contains", value: "green tea" }],
    ["name starts with T", { field: "name", op: "starts_with", value: "T" }],
    ["name = 'null'", { field: "name", op: "=", value: "null" }],
    ["name = Tea (green)", { field: "name", op: "=", value: "Tea (green)" }],
    ["name = salt and pepper", { field: "name", op: "=", value: "salt and pepper" }],
    ["zip = 01234", { field: "zip", op: "=", value: "01234" }],
    ["segment is null", { field: "segment", op: "is_null" }],
    ["segment IS NOT NULL", { field: "segment", op: "not_null" }],
    ["placed: this_year", { field: "placed", range: "this_year" }],
    ["placed: last month", { field: "placed", range: "last_month" }],
    ["order.placed:last 3 months", { field: "order.placed", last: { count: 3, unit: "month" } }],
    ["placed: 2026-01-01..2026-04-01", { field: "placed", from: "2026-01-01", until: "2026-04-01" }],
    ["placed: 2026-01-01T14:00 ..", { field: "placed", from: "2026-01-01T14:00" }],
    ["placed: ..2026-04-01", { field: "placed", until: "2026-04-01" }],
    ["placed: 2026", { field: "placed", from: "2026-01-01", until: "2027-01-01" }],
    ["placed: 2026-12", { field: "placed", from: "2026-12-01", until: "2027-01-01" }],
    ["placed: 2026-02-28", { field: "placed", from: "2026-02-28", until: "2026-03-01" }],
  ])("%s", (text, filter) => {
    expect(parseFilter(text)).toEqual(filter);
    expect(metricQuery.safeParse({ metrics: ["revenue"], where: [filter] }).success).toBe(true);
  });

  test.each([
    ["status", "status = paid"],
    ["= paid", "status = paid"],
    ["status = ", "Separate values"],
    ["1 = 1 or status = 'x'", "status = paid"],
    ["status = a, b", "Use `in`"],
    ["status in 'a", "quote"],
    ["placed: this_yaer", "Did you mean this_year?"],
    ["placed: 2026-02-30", "Ranges:"],
    ["placed: 2026-01..2026-04", "second one is not included"],
    ["placed: ..", "status = paid"],
    ["status = null", "Write `is null`"],
    ["channel in web, NULL", "Write `is null`"],
    ["channel in (web, shop)", "values without parentheses"],
    ["channel in ('web')", "values without parentheses"],
    ["status == paid", "Write one operator"],
    ["status => paid", "Write one operator"],
    ["status = paid and channel = web", "its own --where"],
    ["status = paid OR order.channel in web", "its own --where"],
    ["segment is null or 1", "status = paid"],
  ])("%s is refused with advice", (text, advice) => {
    expect(() => parseFilter(text)).toThrow(
      expect.objectContaining({ code: "usage", fix: expect.stringContaining(advice) }),
    );
  });
});
