import { code, email, int, money, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const naturalKeys: Schema = {
  name: "natural-keys",
  about: "country codes, ISBNs, e-mail addresses, currencies",
  tables: {
    country: { rows: 60, columns: { iso: code("AA"), name: title(), population: int(1000, 90_000_000) } },
    currencies: { rows: 25, columns: { code: code("AAA"), symbol: words(1), digits: int(0, 3) } },
    users: {
      rows: 120,
      columns: {
        email: email(),
        display_name: words(),
        home_country: to("country.iso", { type: "TEXT" }),
        born: year(),
      },
    },
    publisher: {
      rows: 18,
      columns: { publisher_id: serial(), name: title(), country_code: to("country.iso", { type: "TEXT" }) },
    },
    books: {
      rows: 200,
      columns: {
        isbn: code("978-#####-A"),
        title: title(),
        publisher: to("publisher.publisher_id"),
        price: money(),
        currency: to("currencies.code", { type: "TEXT" }),
        published: year(),
      },
    },
    reviews: {
      rows: 500,
      columns: {
        id: serial(),
        isbn: to("books.isbn", { type: "TEXT" }),
        reviewer_email: to("users.email", { type: "TEXT" }),
        stars: int(1, 5),
        body: words(6),
      },
    },
    airports: {
      rows: 70,
      columns: { iata: code("AAA"), city: words(1), country: to("country.iso", { type: "TEXT" }) },
    },
    flights: {
      rows: 400,
      columns: {
        flight_no: code("XA####"),
        origin: to("airports.iata", { type: "TEXT" }),
        destination: to("airports.iata", { type: "TEXT" }),
        seats: int(50, 70),
        gate: int(1, 30),
      },
    },
  },
};
