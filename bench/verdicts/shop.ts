import { columnKind } from "@tandem/connectors";
import type { CataloguedTable } from "@tandem/metrics";

const table = (
  name: string,
  columns: string,
  key: readonly string[],
  joins: readonly (readonly [string, string])[] = [],
): CataloguedTable => ({
  schema: "main",
  name,
  columns: columns.split(" ").map((text) => {
    const [column, type = "text"] = text.split(":") as [string, string?];
    return { name: column, type, kind: columnKind(type) };
  }),
  keys: [key],
  joins: joins.map(([column, to]) => ({ columns: [column], to: { schema: "main", name: to }, toColumns: ["id"] })),
});

/** The tables of the hand-written statements. */
export const SHOP: readonly CataloguedTable[] = [
  table("regions", "id:integer name", ["id"]),
  table(
    "customers",
    "id:integer name segment region_id:integer referred_by:integer",
    ["id"],
    [
      ["region_id", "regions"],
      ["referred_by", "customers"],
    ],
  ),
  table(
    "orders",
    "id:integer customer_id:integer ship_to:integer bill_to:integer ordered_at status",
    ["id"],
    [
      ["customer_id", "customers"],
      ["ship_to", "regions"],
      ["bill_to", "regions"],
    ],
  ),
  table(
    "lines",
    "order_id:integer line:integer amount_cents:integer product",
    ["order_id", "line"],
    [["order_id", "orders"]],
  ),
  table("payments", "id:integer order_id:integer paid_at cents:integer", ["id"], [["order_id", "orders"]]),
  table("stock", "day product on_hand:integer", ["day", "product"]),
];
