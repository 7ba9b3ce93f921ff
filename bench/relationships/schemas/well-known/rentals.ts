import { date, email, flag, int, listed, money, pick, serial, title, to, words, year } from "../column.ts";
import type { Schema } from "../schema.ts";

export const rentals: Schema = {
  name: "rentals",
  about: "films, shops and staff that refer to each other, a column that is always null",
  tables: {
    language: {
      rows: 6,
      columns: {
        language_id: serial(),
        name: listed("English", "Italian", "Japanese", "Mandarin", "French", "German"),
      },
    },
    category: { rows: 16, columns: { category_id: serial(), name: title() } },
    actor: { rows: 200, columns: { actor_id: serial(), first_name: words(1), last_name: words(1) } },
    film: {
      rows: 500,
      columns: {
        film_id: serial(),
        title: title(),
        release_year: year(),
        language_id: to("language.language_id"),
        original_language_id: { ...to("language.language_id"), make: () => null },
        rental_duration: int(3, 7),
        length: int(46, 185),
        rating: pick("G", "PG", "R"),
      },
    },
    film_actor: {
      rows: 1300,
      columns: { actor_id: to("actor.actor_id"), film_id: to("film.film_id") },
      key: ["actor_id", "film_id"],
    },
    film_category: {
      rows: 500,
      columns: { film_id: to("film.film_id"), category_id: to("category.category_id") },
      key: ["film_id", "category_id"],
    },
    country: { rows: 60, columns: { country_id: serial(), country: title() } },
    city: { rows: 150, columns: { city_id: serial(), city: title(), country_id: to("country.country_id") } },
    address: {
      rows: 300,
      columns: { address_id: serial(), address: words(3), district: words(1), city_id: to("city.city_id") },
    },
    store: {
      rows: 2,
      columns: {
        store_id: serial(),
        manager_staff_id: { ...int(1, 2), ref: "staff.staff_id", make: ({ row }) => row + 1 },
        address_id: to("address.address_id"),
      },
    },
    staff: {
      rows: 2,
      columns: {
        staff_id: serial(),
        first_name: words(1),
        address_id: to("address.address_id"),
        email: email(),
        store_id: { ...int(1, 2), ref: "store.store_id", make: ({ row }) => row + 1 },
        active: flag(),
      },
    },
    customer: {
      rows: 250,
      columns: {
        customer_id: serial(),
        store_id: to("store.store_id"),
        first_name: words(1),
        email: email(),
        address_id: to("address.address_id"),
        active: flag(),
      },
    },
    inventory: {
      rows: 900,
      columns: { inventory_id: serial(), film_id: to("film.film_id"), store_id: to("store.store_id") },
    },
    rental: {
      rows: 1500,
      columns: {
        rental_id: serial(),
        rental_date: date(),
        inventory_id: to("inventory.inventory_id"),
        customer_id: to("customer.customer_id"),
        staff_id: to("staff.staff_id"),
      },
    },
    payment: {
      rows: 1500,
      columns: {
        payment_id: serial(),
        customer_id: to("customer.customer_id"),
        staff_id: to("staff.staff_id"),
        rental_id: to("rental.rental_id", { nulls: 0.02 }),
        amount: money(11),
      },
    },
  },
};
