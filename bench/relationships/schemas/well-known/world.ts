import { code, int, money, pick, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const world: Schema = {
  name: "world",
  about: "a capital that is a city, languages by country code",
  tables: {
    country: {
      rows: 120,
      columns: {
        Code: code("AAA"),
        Name: title(),
        Continent: pick("Asia", "Europe", "Africa"),
        IndepYear: year(),
        Population: int(1000, 90_000_000),
        Capital: { ...int(1, 1), ref: "city.ID", make: ({ row, random }) => 1 + Math.floor((row + random()) * 15) },
      },
    },
    city: {
      rows: 1800,
      columns: {
        ID: serial(),
        Name: words(1),
        CountryCode: to("country.Code", { type: "TEXT" }),
        District: words(1),
        Population: int(1000, 900_000),
      },
    },
    countrylanguage: {
      rows: 400,
      columns: {
        CountryCode: to("country.Code", { type: "TEXT" }),
        Language: words(1),
        IsOfficial: pick("T", "F"),
        Percentage: money(99),
      },
      key: ["CountryCode", "Language"],
    },
  },
};
