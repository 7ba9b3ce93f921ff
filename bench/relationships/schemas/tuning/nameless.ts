import { code, date, flag, int, money, serial, sparse, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const nameless: Schema = {
  name: "nameless",
  about: "columns f1, f2 …: only values tell; half of the keys count from 1",
  tables: {
    qa: { rows: 37, columns: { f1: serial(), f2: words(), f3: int(0, 1) } },
    qb: { rows: 212, columns: { f1: serial(), f2: to("qa.f1"), f3: int(1, 5), f4: year(), f5: words() } },
    qc: { rows: 900, columns: { f1: serial(), f2: date(), f3: to("qb.f1"), f4: int(0, 50), f5: to("qa.f1") } },
    qd: { rows: 64, columns: { f1: sparse(3), f2: words(), f3: money() } },
    qe: { rows: 300, columns: { f1: sparse(11), f2: to("qd.f1"), f3: to("qb.f1"), f4: flag() } },
    qf: { rows: 120, columns: { f1: code("AA-###"), f2: title() } },
    qg: {
      rows: 800,
      columns: { f1: to("qe.f1"), f2: to("qf.f1", { type: "TEXT" }), f3: int(1, 99), f4: money() },
      key: ["f1", "f2"],
    },
  },
};
