import { code, date, int, money, serial, sparse, to, words } from "../column.ts";
import type { Schema } from "../schema.ts";

export const opaque: Schema = {
  name: "opaque",
  about: "names say nothing; distinctive numbers and codes, one number written as text",
  tables: {
    T100: { rows: 300, columns: { F1: sparse(5), F2: words(), F3: date() } },
    T110: { rows: 90, columns: { F1: code("AA####"), F2: words(), F3: int(1, 40) } },
    T120: {
      rows: 1_000,
      columns: { F1: serial(), F2: to("T100.F1"), F3: to("T110.F1", { type: "TEXT" }), F4: money() },
    },
    T130: { rows: 700, columns: { F1: sparse(31), F2: to("T100.F1", { type: "TEXT" }), F3: int(0, 9), F4: date() } },
    T140: {
      rows: 900,
      columns: {
        F1: code("K######"),
        F2: to("T130.F1", { nulls: 0.2 }),
        F3: to("T110.F1", { type: "TEXT", orphans: 0.02 }),
      },
    },
    T150: { rows: 60, columns: { F1: code("##-AA"), F2: words() } },
    T160: {
      rows: 500,
      columns: {
        F1: serial(),
        F2: to("T150.F1", { type: "TEXT" }),
        F3: to("T140.F1", { type: "TEXT" }),
        F4: int(1, 5),
      },
    },
  },
};
