import { code, date, int, listed, part, pick, serial, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const bins: Schema = {
  name: "bins",
  about: "composite keys of codes, referred to twice by one table, each time in a role",
  tables: {
    uoms: { rows: 7, columns: { uom: listed("PCE", "BOX", "PAL", "KGM", "LTR", "MTR", "SET"), descr: words() } },
    warehouses: { rows: 6, columns: { wh: listed("01", "02", "03", "A1", "A2", "B1"), city: words() } },
    bins: {
      rows: 400,
      columns: {
        wh: to("warehouses.wh", { type: "TEXT" }),
        bin: pick(...Array.from({ length: 240 }, (_, i) => `${"ABCDEF"[i % 6]}-${String(i).padStart(3, "0")}`)),
        max_kg: int(50, 900),
      },
      key: ["wh", "bin"],
    },
    items: {
      rows: 600,
      columns: { sku: code("SKU#####"), descr: words(), base_uom: to("uoms.uom", { type: "TEXT" }) },
    },
    stock: {
      rows: 1_500,
      columns: {
        wh: part("bins.wh", "TEXT"),
        bin: part("bins.bin", "TEXT"),
        sku: to("items.sku", { type: "TEXT" }),
        qty: int(0, 400),
      },
      key: ["wh", "bin", "sku"],
      composite: [{ columns: ["wh", "bin"], to: "bins", toColumns: ["wh", "bin"] }],
    },
    movements: {
      rows: 2_500,
      columns: {
        id: serial(),
        from_wh: part("bins.wh", "TEXT", "from"),
        from_bin: part("bins.bin", "TEXT", "from"),
        to_wh: part("bins.wh", "TEXT", "to"),
        to_bin: part("bins.bin", "TEXT", "to"),
        sku: to("items.sku", { type: "TEXT" }),
        qty: int(1, 60),
        moved: date(),
      },
      composite: [
        { columns: ["from_wh", "from_bin"], to: "bins", toColumns: ["wh", "bin"] },
        { columns: ["to_wh", "to_bin"], to: "bins", toColumns: ["wh", "bin"] },
      ],
    },
  },
};
