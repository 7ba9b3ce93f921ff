import { int, money, numberWithin, part, pick, serial, title, to } from "../column.ts";
import type { Schema } from "../schema.ts";

export const warehouse: Schema = {
  name: "warehouse",
  about: "a letter and an underscore before each column, keys glued, a foreign key of two columns",
  tables: {
    region: { rows: 5, columns: { r_regionkey: serial(0), r_name: title() } },
    nation: { rows: 25, columns: { n_nationkey: serial(0), n_name: title(), n_regionkey: to("region.r_regionkey") } },
    supplier: {
      rows: 60,
      columns: { s_suppkey: serial(), s_name: title(), s_nationkey: to("nation.n_nationkey"), s_acctbal: money() },
    },
    part: { rows: 200, columns: { p_partkey: serial(), p_name: title(), p_size: int(1, 50), p_retailprice: money() } },
    partsupp: {
      rows: 600,
      columns: { ps_partkey: to("part.p_partkey"), ps_suppkey: to("supplier.s_suppkey"), ps_availqty: int(1, 200) },
      key: ["ps_partkey", "ps_suppkey"],
    },
    customer: {
      rows: 150,
      columns: { c_custkey: serial(), c_name: title(), c_nationkey: to("nation.n_nationkey"), c_acctbal: money() },
    },
    orders: {
      rows: 700,
      columns: {
        o_orderkey: serial(),
        o_custkey: to("customer.c_custkey"),
        o_orderstatus: pick("O", "F", "P"),
        o_shippriority: int(0, 1),
      },
    },
    lineitem: {
      rows: 1500,
      columns: {
        l_orderkey: to("orders.o_orderkey"),
        l_linenumber: numberWithin("l_orderkey", "lineitem"),
        l_partkey: part("partsupp.ps_partkey"),
        l_suppkey: part("partsupp.ps_suppkey"),
        l_quantity: int(1, 50),
      },
      key: ["l_orderkey", "l_linenumber"],
      composite: [{ columns: ["l_partkey", "l_suppkey"], to: "partsupp", toColumns: ["ps_partkey", "ps_suppkey"] }],
    },
  },
};
