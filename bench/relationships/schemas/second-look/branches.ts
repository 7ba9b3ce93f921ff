import { date, int, money, pick, serial, to, words } from "../column.ts";
import type { Schema, TableSpec } from "../schema.ts";

const branch = (name: string, rows: number): Record<string, TableSpec> => ({
  [`${name}_customer`]: { rows, columns: { id: serial(), name: words(), since: date() } },
  [`${name}_employee`]: {
    rows: Math.ceil(rows / 10),
    columns: { id: serial(), name: words(), boss_id: to(`${name}_employee.id`, { nulls: 0.3 }) },
  },
  [`${name}_order`]: {
    rows: rows * 3,
    columns: {
      id: serial(),
      customer_id: to(`${name}_customer.id`),
      taken_by: to(`${name}_employee.id`, { nulls: 0.1 }),
      product_id: to("shared_product.id"),
      quantity: int(1, 30),
      state: pick("new", "sent"),
    },
  },
});

export const branches: Schema = {
  name: "branches",
  about: "the same tables for each of three branches, with ids that overlap, and products that they share",
  tables: {
    shared_product: { rows: 150, columns: { id: serial(), label: words(), price: money() } },
    ...branch("north", 300),
    ...branch("south", 260),
    ...branch("west", 340),
  },
};
