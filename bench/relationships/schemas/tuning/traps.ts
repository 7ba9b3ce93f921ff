import { flag, int, listed, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const traps: Schema = {
  name: "traps",
  about: "keys 1..n everywhere; quantities, ratings, years, flags and four-row tables that fit into them",
  tables: {
    status: { rows: 4, columns: { id: serial(), label: listed("open", "paid", "sent", "void") } },
    sizes: { rows: 4, columns: { id: serial(), label: listed("S", "M", "L", "XL") } },
    priorities: { rows: 5, columns: { id: serial(), label: title() } },
    seasons: { rows: 30, columns: { id: serial(), year: serial(1995), theme: words() } },
    shops: { rows: 12, columns: { id: serial(), name: title(), rank: int(1, 5), floors: int(1, 4), opened: year() } },
    items: {
      rows: 100,
      columns: {
        id: serial(),
        shop_id: to("shops.id"),
        size_id: to("sizes.id"),
        rating: int(1, 5),
        percent_off: int(1, 100),
        is_new: flag(),
        stock: int(1, 12),
      },
    },
    baskets: {
      rows: 240,
      columns: {
        id: serial(),
        status_id: to("status.id"),
        priority: to("priorities.id"),
        visits: int(1, 30),
        weekday: int(1, 7),
        month: int(1, 12),
        season_id: to("seasons.id"),
      },
    },
    basket_items: {
      rows: 700,
      columns: { basket_id: to("baskets.id"), item_id: to("items.id"), quantity: int(1, 10), position: int(1, 12) },
      key: ["basket_id", "item_id"],
    },
  },
  views: {
    basket_totals:
      "SELECT b.id AS basket_id, count(*) AS item_count FROM baskets b JOIN basket_items i ON i.basket_id = b.id GROUP BY b.id",
    open_baskets: "SELECT * FROM baskets WHERE status_id = 1",
  },
};
