import { code, int, money, pick, serial, title, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const star: Schema = {
  name: "star",
  about: "dim_ and fact_ tables, surrogate keys, a table of dates, copies and archives",
  tables: {
    dim_date: {
      rows: 730,
      columns: { date_key: serial(20_200_101), year: int(2020, 2021), month: int(1, 12), weekday: int(1, 7) },
    },
    dim_customer: {
      rows: 140,
      columns: { customer_key: serial(), customer_id: code("C-#####"), name: words(), segment: pick("A", "B", "C") },
    },
    dim_product: {
      rows: 90,
      columns: { product_key: serial(), sku: code("AA####"), brand: words(1), list_price: money() },
    },
    dim_store: { rows: 20, columns: { store_key: serial(), store_name: title(), sqm: int(50, 900) } },
    dim_promotion: { rows: 11, columns: { promotion_key: serial(), promo_name: title() } },
    fact_sales: {
      rows: 2000,
      columns: {
        sales_key: serial(),
        order_date_key: to("dim_date.date_key"),
        ship_date_key: to("dim_date.date_key"),
        customer_key: to("dim_customer.customer_key"),
        product_key: to("dim_product.product_key"),
        store_key: to("dim_store.store_key"),
        promotion_key: to("dim_promotion.promotion_key", { nulls: 0.6 }),
        units: int(1, 20),
        revenue: money(),
      },
    },
    fact_sales_archive: {
      rows: 600,
      columns: {
        sales_key: serial(90_001),
        order_date_key: to("dim_date.date_key"),
        ship_date_key: to("dim_date.date_key"),
        customer_key: to("dim_customer.customer_key"),
        product_key: to("dim_product.product_key"),
        store_key: to("dim_store.store_key"),
        promotion_key: to("dim_promotion.promotion_key", { nulls: 0.6 }),
        units: int(1, 20),
        revenue: money(),
      },
    },
    fact_inventory: {
      rows: 900,
      columns: {
        date_key: to("dim_date.date_key"),
        product_key: to("dim_product.product_key"),
        store_key: to("dim_store.store_key"),
        on_hand: int(0, 90),
      },
      key: ["date_key", "product_key", "store_key"],
    },
  },
};
