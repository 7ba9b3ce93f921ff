import { expect, test } from "vitest";
import { readContextSearch } from "../../context-search-params.ts";
import { type Question, questionBody, questionSearch, readQuestion } from "./metric-question.ts";

const question: Question = {
  connection: "shop",
  metrics: ["revenue", "orders"],
  by: ["time.month", "customer.segment"],
  where: [
    { field: "customer.segment", op: "in", values: ["home", "a,b"] },
    { field: "time", last: { count: 3, unit: "quarter" } },
    { field: "order.placed", from: "2026-01-01", until: "2026-02-01" },
    { field: "revenue", op: ">", value: 100 },
  ],
  segments: ["order.real"],
  order: [
    { field: "revenue", descending: true },
    { field: "time.month", descending: false },
  ],
  limit: 50,
  fill: true,
};

test("a query survives in the address", () => {
  const search = questionSearch(question);
  // The router writes each parameter as JSON, if it is no plain text.
  const reloaded: Record<string, unknown> = JSON.parse(JSON.stringify({ ...search, limit: Number(search.limit) }));
  expect(readQuestion(readContextSearch(reloaded))).toEqual(question);
});

test("an address by hand gives a query of what can be understood", () => {
  const where = [{ field: "a", op: "drop table" }, 7, { op: "=" }, { field: "b", range: "last_month", extra: 1 }];
  expect(readQuestion({ metrics: "revenue,,revenue", where, limit: "-3", fill: "maybe" })).toEqual({
    connection: undefined,
    metrics: ["revenue"],
    by: [],
    where: [{ field: "b", range: "last_month" }],
    segments: [],
    order: [],
    limit: 1_000,
    fill: false,
  });
});

test("the request has no unfinished filters, and no order by what is not returned", () => {
  const body = questionBody({
    ...question,
    by: [],
    where: [
      { field: "customer.segment", op: "in", values: [] },
      { field: "order.placed" },
      { field: "order.status", op: "=", value: "" },
      { field: "order.status", op: "not_null" },
    ],
  });
  expect(body.where).toEqual([{ field: "order.status", op: "not_null" }]);
  expect(body.order).toEqual([{ field: "revenue", descending: true }]);
});
