import { expect, test } from "vitest";
import { buildModel } from "../../build/build-model.ts";
import { metricsFile } from "../../model/metrics-file.ts";
import { SHOP_FILES, SHOP_TABLES, shopModel } from "../../testing/shop.ts";
import { deviationsOf } from "../judge-sql.ts";

test.each([
  ["the definition itself", "select sum(amount_cents / 100) from lines", []],
  ["the definition, written in another order", "select sum(l.amount_cents / 100.0) from lines as l", []],
  [
    "another unit",
    "select sum(l.amount_cents) from lines l",
    ["sum(l.amount_cents) is not the metric revenue: the metric's value is `amount_cents / 100`."],
  ],
  ["all orders are a metric of their own", "select count(*) from orders", []],
  ["a filter of the question is no deviation", "select count(*) from orders where status = 'open'", []],
  [
    "another time",
    "select shipped_at, count(*) from orders group by shipped_at",
    [
      "count(*) is not the metric cancelled: no `status = 'cancelled'`; the metric's time is `ordered_at`, not `shipped_at`.",
    ],
  ],
  ["the same time", "select ordered_at, count(*) from orders group by 1", []],
  [
    "a subquery may hold the condition",
    "select sum(x.amount_cents) from (select * from lines where product = 'tea') x",
    [],
  ],
  ["an unknown function", "select sum(sqrt(amount_cents)) from lines", []],
])("%s", async (_, sql, expected) => {
  const found = await deviationsOf(sql, "sqlite", shopModel());
  const messages = found.map(({ message }) => message);
  // Of several metrics, any of those that are equally near may be named.
  expect(messages.map(generic)).toEqual(expected.map(generic));
});

const generic = (message: string): string =>
  message.replace(/metric (cancelled|orders): (no `status = 'cancelled'`; )?/, "metric orders: ");

test("a missing condition is named, also one on another table", async () => {
  const files = SHOP_FILES.map((file) =>
    file.entity === "order"
      ? metricsFile.parse({ ...file, metrics: { real_orders: { measure: "real" } } })
      : metricsFile.parse(
          file.entity === "line"
            ? { ...file, metrics: { revenue: { measure: "amount" } } }
            : { ...file, metrics: undefined },
        ),
  );
  const model = buildModel({ dialect: "sqlite", files, tables: SHOP_TABLES });
  const differences = async (sql: string) => (await deviationsOf(sql, "sqlite", model)).map(({ message }) => message);
  expect(await differences("select count(*) from orders")).toEqual([
    "count(*) is not the metric real_orders: no `status <> 'cancelled'`; no `not coalesce(customer.is_test, false)`.",
  ]);
  expect(await differences("select count(*) from orders where 'cancelled' <> status")).toEqual([
    "count(*) is not the metric real_orders: no `not coalesce(customer.is_test, false)`.",
  ]);
  const complete =
    "select count(*) from orders o left join customers c on c.id = o.customer_id where o.status != 'cancelled' and not coalesce(c.is_test, false)";
  expect(await differences(complete)).toEqual([]);
  // Another condition on the same column may imply the missing one.
  expect(await differences("select count(*) from orders where status = 'done'")).toEqual([]);
  expect(await differences("select count(*) from orders where id in (select order_id from lines)")).toEqual([]);
});
