import { code, flag, int, listed, serial, title, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const nothing: Schema = {
  name: "nothing",
  about: "numbers everywhere, and nothing refers to anything",
  tables: {
    measurements: {
      rows: 3_000,
      columns: {
        id: serial(),
        year: year(),
        percentage: int(0, 100),
        qty: int(1, 20),
        is_ok: flag(),
        rating: int(1, 5),
      },
    },
    planets: { rows: 8, columns: { id: serial(), name: title(), moons: int(0, 8), rank: serial() } },
    recipes: { rows: 300, columns: { id: serial(), title: title(), servings: int(1, 8), minutes: int(5, 180) } },
    cities: { rows: 100, columns: { id: serial(), name: title(), population_rank: serial(), districts: int(1, 40) } },
    settings: { rows: 40, columns: { key: code("AAA##"), value: int(1, 50), version: int(1, 9) } },
    elements: {
      rows: 118,
      columns: { atomic_number: serial(), symbol: listed("H"), period: int(1, 7), group_no: int(1, 18) },
    },
    survey: {
      rows: 1_200,
      columns: { respondent: serial(), age: int(18, 90), q1: int(1, 5), household_size: int(1, 7) },
    },
  },
};
