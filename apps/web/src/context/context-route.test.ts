import { expect, test } from "vitest";
import { pathOfKey, readPath } from "./context-route.ts";

test.each([
  ["page:metrics/active-customer", "wiki/metrics/active-customer"],
  ["memory:mem_01", "memory/mem_01"],
  ["table:shop/main.orders", "tables/shop/main.orders"],
  ["column:shop/main.orders.status", "tables/shop/main.orders"],
  ["value:shop/main.orders.status", "tables/shop/main.orders"],
  ["metric:shop/revenue", "metrics/shop/revenue"],
  ["chunk:docs/metrics#active-customer", "passages/docs/metrics#active-customer"],
  ["other:x", undefined],
])("%s is at %s", (key, path) => expect(pathOfKey(key)).toBe(path));

test.each([
  ["", { section: "search", view: "search", rest: "" }],
  ["wiki/metrics/revenue", { section: "wiki", view: "wiki", rest: "metrics/revenue" }],
  ["passages/docs/a#b", { section: "wiki", view: "passages", rest: "docs/a#b" }],
  ["graph/shop/main.orders/", { section: "tables", view: "graph", rest: "shop/main.orders" }],
  ["nothing", undefined],
])("reads %j", (splat, expected) => expect(readPath(splat)).toEqual(expected));
