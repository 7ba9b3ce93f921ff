import { date, int, listed, money, serial, sparse, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const starTerse: Schema = {
  name: "star-terse",
  about: "every key is called k; facts name their dimensions in three letters; dates in three roles",
  tables: {
    d_date: { rows: 730, columns: { k: serial(20_240_001), d: date(), m: int(1, 12), q: int(1, 4) } },
    d_cat: { rows: 24, columns: { k: serial(), nm: words(1), up_k: to("d_cat.k", { nulls: 0.3 }) } },
    d_prod: { rows: 310, columns: { k: serial(), sku: sparse(11), nm: words(), cat_k: to("d_cat.k") } },
    d_reg: { rows: 7, columns: { k: serial(), nm: listed("N", "S", "E", "W", "NE", "NW", "SE") } },
    d_store: { rows: 41, columns: { k: serial(), nm: words(), reg_k: to("d_reg.k") } },
    d_cust: { rows: 800, columns: { k: serial(), nm: words(), seg: int(1, 5) } },
    f_sales: {
      rows: 4_000,
      columns: {
        date_k: to("d_date.k"),
        ship_date_k: to("d_date.k", { nulls: 0.1 }),
        prod_k: to("d_prod.k"),
        store_k: to("d_store.k"),
        cust_k: to("d_cust.k"),
        n: int(1, 12),
        amt: money(),
      },
      key: [],
    },
    f_inv: {
      rows: 2_500,
      columns: { date_k: to("d_date.k"), prod_k: to("d_prod.k"), store_k: to("d_store.k"), n: int(0, 300) },
      key: [],
    },
    f_ret: {
      rows: 700,
      columns: { ret_date_k: to("d_date.k"), prod_k: to("d_prod.k"), cust_k: to("d_cust.k"), amt: money(80) },
      key: [],
    },
  },
};
