import { code, flag, int, serial, sparse, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const unlikeNames: Schema = {
  name: "unlike-names",
  about: "keys and references that share no word, wide keys that values alone can tell apart",
  tables: {
    garments: { rows: 95, columns: { stylemark: code("AA-####"), fabric: words(1), launched: year() } },
    mills: { rows: 22, columns: { plant_ident: sparse(17), town: words(1), looms: int(1, 22) } },
    batches: {
      rows: 260,
      columns: {
        lot: sparse(29),
        produced_at: to("mills.plant_ident"),
        what: to("garments.stylemark", { type: "TEXT" }),
        pieces: int(10, 400),
      },
    },
    crew: { rows: 30, columns: { badge: sparse(41), surname: words(1), works_at: to("mills.plant_ident") } },
    inspections: {
      rows: 340,
      columns: {
        nr: serial(),
        checked: to("batches.lot"),
        passed: flag(),
        inspector: to("crew.badge"),
        score: int(1, 100),
      },
    },
  },
};
