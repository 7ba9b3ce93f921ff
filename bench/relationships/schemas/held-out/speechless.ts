import { date, flag, int, money, serial, to, uuid, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const speechless: Schema = {
  name: "speechless",
  about: "no word anywhere: tables and columns by number, all keys count from 1",
  tables: {
    T001: { rows: 23, columns: { C1: serial(), C2: words(), C3: flag() } },
    T002: { rows: 148, columns: { C1: serial(), C2: to("T001.C1"), C3: int(0, 9), C4: year() } },
    T003: { rows: 61, columns: { C1: serial(), C2: words(), C3: money() } },
    T004: { rows: 1100, columns: { C1: serial(), C2: to("T002.C1"), C3: to("T003.C1"), C4: int(1, 10), C5: money() } },
    T005: { rows: 420, columns: { C1: uuid("x"), C2: to("T001.C1"), C3: date() } },
    T006: {
      rows: 900,
      columns: { C1: to("T004.C1"), C2: to("T005.C1", { type: "TEXT" }), C3: int(0, 100) },
      key: ["C1", "C2"],
    },
  },
};
