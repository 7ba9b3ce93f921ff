import {
  code, copied, date, email, flag, int, listed, money, numberWithin, part, pick, serial, sparse, title, to, uuid, words, year,
} from "./column.ts";
import type { Schema } from "./schema.ts";
import { manyTables } from "./many-tables.ts";

/** What the finder was tuned on. */
export const tuning: readonly Schema[] = [
  {
    name: "abbreviations",
    about: "cust_no for customers.customer_number, dept for department.dept_id",
    tables: {
      department: { rows: 12, columns: { dept_id: serial(10, 10), dname: title(), floor: int(1, 9) } },
      employee: {
        rows: 90,
        columns: { emp_id: serial(), full_nm: words(), dept: to("department.dept_id"), mgr: to("employee.emp_id", { nulls: 0.1 }), sal: money(), grade: int(1, 9) },
      },
      customers: { rows: 150, columns: { customer_number: serial(1001), cname: words(), region: pick("N", "S", "E", "W") } },
      product_category: { rows: 9, columns: { cat_id: serial(), descr: title() } },
      products: {
        rows: 80,
        columns: { prod_id: serial(), prod_nm: title(), cat_id: to("product_category.cat_id"), unit_prc: money(), stk_qty: int(0, 60) },
      },
      orders: {
        rows: 400,
        columns: { ord_no: serial(50_001), cust_no: to("customers.customer_number"), ord_dt: date(), sls_emp: to("employee.emp_id"), stat: int(1, 5) },
      },
      order_items: {
        rows: 1200,
        columns: { itm_id: serial(), ord_no: to("orders.ord_no"), prd: to("products.prod_id"), qty: int(1, 12), disc: money(1) },
      },
      acct: { rows: 60, columns: { acct_num: serial(7001), cust: to("customers.customer_number"), bal: money() } },
      txn: { rows: 500, columns: { txn_id: serial(), account: to("acct.acct_num"), amt: money(), yr: year() } },
    },
  },
  {
    name: "nameless",
    about: "columns f1, f2 …: only values tell; half of the keys count from 1",
    tables: {
      qa: { rows: 37, columns: { f1: serial(), f2: words(), f3: int(0, 1) } },
      qb: { rows: 212, columns: { f1: serial(), f2: to("qa.f1"), f3: int(1, 5), f4: year(), f5: words() } },
      qc: { rows: 900, columns: { f1: serial(), f2: date(), f3: to("qb.f1"), f4: int(0, 50), f5: to("qa.f1") } },
      qd: { rows: 64, columns: { f1: sparse(3), f2: words(), f3: money() } },
      qe: { rows: 300, columns: { f1: sparse(11), f2: to("qd.f1"), f3: to("qb.f1"), f4: flag() } },
      qf: { rows: 120, columns: { f1: code("AA-###"), f2: title() } },
      qg: { rows: 800, columns: { f1: to("qe.f1"), f2: to("qf.f1", { type: "TEXT" }), f3: int(1, 99), f4: money() }, key: ["f1", "f2"] },
    },
  },
  {
    name: "natural-keys",
    about: "country codes, ISBNs, e-mail addresses, currencies",
    tables: {
      country: { rows: 60, columns: { iso: code("AA"), name: title(), population: int(1000, 90_000_000) } },
      currencies: { rows: 25, columns: { code: code("AAA"), symbol: words(1), digits: int(0, 3) } },
      users: { rows: 120, columns: { email: email(), display_name: words(), home_country: to("country.iso", { type: "TEXT" }), born: year() } },
      publisher: { rows: 18, columns: { publisher_id: serial(), name: title(), country_code: to("country.iso", { type: "TEXT" }) } },
      books: {
        rows: 200,
        columns: { isbn: code("978-#####-A"), title: title(), publisher: to("publisher.publisher_id"), price: money(), currency: to("currencies.code", { type: "TEXT" }), published: year() },
      },
      reviews: {
        rows: 500,
        columns: { id: serial(), isbn: to("books.isbn", { type: "TEXT" }), reviewer_email: to("users.email", { type: "TEXT" }), stars: int(1, 5), body: words(6) },
      },
      airports: { rows: 70, columns: { iata: code("AAA"), city: words(1), country: to("country.iso", { type: "TEXT" }) } },
      flights: {
        rows: 400,
        columns: { flight_no: code("XA####"), origin: to("airports.iata", { type: "TEXT" }), destination: to("airports.iata", { type: "TEXT" }), seats: int(50, 70), gate: int(1, 30) },
      },
    },
  },
  {
    name: "composite",
    about: "order lines, sections, junctions; foreign keys of two and three columns",
    tables: {
      orders: { rows: 200, columns: { order_id: serial(), placed: date(), total: money() } },
      products: { rows: 50, columns: { product_id: serial(), name: title(), weight: money() } },
      order_lines: {
        rows: 600,
        columns: { order_id: to("orders.order_id"), line_no: numberWithin("order_id", "order_lines"), product_id: to("products.product_id"), quantity: int(1, 20) },
        key: ["order_id", "line_no"],
      },
      shipment_lines: {
        rows: 300,
        columns: { shipment_line_id: serial(), order_id: part("order_lines.order_id"), line_no: part("order_lines.line_no"), shipped: date() },
        composite: [{ columns: ["order_id", "line_no"], to: "order_lines", toColumns: ["order_id", "line_no"] }],
      },
      courses: { rows: 30, columns: { course_code: code("AAA###"), title: title(), credits: int(1, 6) } },
      sections: {
        rows: 140,
        columns: { course_code: to("courses.course_code", { type: "TEXT" }), term: pick("2021S", "2021W", "2022S", "2022W", "2023S"), section_no: int(1, 4), room: int(1, 40) },
        key: ["course_code", "term", "section_no"],
      },
      students: { rows: 110, columns: { student_id: serial(), name: words(), gpa: money(4) } },
      enrolments: {
        rows: 700,
        columns: { student_id: to("students.student_id"), course_code: part("sections.course_code", "TEXT"), term: part("sections.term", "TEXT"), section_no: part("sections.section_no"), mark: int(1, 100) },
        key: ["student_id", "course_code", "term", "section_no"],
        composite: [{ columns: ["course_code", "term", "section_no"], to: "sections", toColumns: ["course_code", "term", "section_no"] }],
      },
      product_courses: {
        rows: 60,
        columns: { product_id: to("products.product_id"), course_code: to("courses.course_code", { type: "TEXT" }) },
        key: ["product_id", "course_code"],
      },
    },
  },
  {
    name: "german",
    about: "kunde_nr for kunden.nr, compounds, plurals in -en, mixed case",
    tables: {
      Kunden: { rows: 90, columns: { Nr: serial(), Name: words(), Ort: words(1), PLZ: int(10_000, 99_999) } },
      Lieferanten: { rows: 14, columns: { Nr: serial(), Firma: title(), Bewertung: int(1, 5) } },
      Warengruppen: { rows: 8, columns: { Nr: serial(), Bezeichnung: title() } },
      Artikel: {
        rows: 160,
        columns: { Nr: serial(), Bezeichnung: title(), Lieferant_Nr: to("Lieferanten.Nr"), Warengruppe: to("Warengruppen.Nr"), Bestand: int(0, 90), Preis: money() },
      },
      Mitarbeiter: { rows: 22, columns: { Nr: serial(), Name: words(), Vorgesetzter_Nr: to("Mitarbeiter.Nr", { nulls: 0.2 }), Geburtsjahr: year() } },
      Bestellungen: {
        rows: 350,
        columns: { Nr: serial(), Kunde_Nr: to("Kunden.Nr"), Bearbeiter: to("Mitarbeiter.Nr"), Datum: date(), Zustand: int(1, 4) },
      },
      Bestellpositionen: {
        rows: 900,
        columns: { BestellungNr: to("Bestellungen.Nr"), ArtikelNr: to("Artikel.Nr"), Menge: int(1, 20), Rabatt: money(1) },
        key: ["BestellungNr", "ArtikelNr"],
      },
    },
  },
  {
    name: "roles",
    about: "several references to one table, self references, created_by, persons under other names",
    tables: {
      Users: { rows: 40, columns: { UserId: serial(), FirstName: words(1), LastName: words(1), Email: email(), InvitedBy: to("Users.UserId", { nulls: 0.4 }) } },
      Addresses: { rows: 130, columns: { AddressId: serial(), Street: words(), City: words(1), Zip: int(1000, 9999) } },
      Clients: { rows: 75, columns: { ClientId: serial(), Name: title(), AccountManagerId: to("Users.UserId", { only: [2, 7] }), ParentClientId: to("Clients.ClientId", { nulls: 0.7 }) } },
      Deals: {
        rows: 260,
        columns: {
          DealId: serial(), ClientId: to("Clients.ClientId"), BillingAddressId: to("Addresses.AddressId"), ShippingAddressId: to("Addresses.AddressId", { nulls: 0.3 }),
          CreatedBy: to("Users.UserId"), ApprovedBy: to("Users.UserId", { nulls: 0.5 }), Priority: int(1, 5), Probability: int(1, 100), Stage: pick("new", "won", "lost"),
        },
      },
      Teams: { rows: 10, columns: { TeamId: serial(), TeamName: title(), Captain: to("Users.UserId") } },
      Matches: {
        rows: 60,
        columns: { MatchId: serial(), HomeTeamId: to("Teams.TeamId"), AwayTeamId: to("Teams.TeamId"), HomeScore: int(0, 9), AwayScore: int(0, 9), Season: year() },
      },
      Folders: { rows: 55, columns: { FolderId: serial(), Title: title(), ParentId: to("Folders.FolderId", { nulls: 0.15 }), OwnerId: to("Users.UserId"), SortOrder: int(1, 20) } },
    },
  },
  {
    name: "polymorphic",
    about: "commentable_type and commentable_id, taggings, tables that extend another one to one",
    tables: {
      accounts: { rows: 50, columns: { id: serial(), login: email(), active: flag() } },
      account_profiles: { rows: 41, columns: { account_id: to("accounts.id"), bio: words(5), avatar_size: int(10, 40) }, key: ["account_id"] },
      posts: { rows: 120, columns: { id: serial(), account_id: to("accounts.id"), title: title(), views: int(0, 5000) } },
      photos: { rows: 80, columns: { id: serial(), account_id: to("accounts.id"), width: int(1, 80), caption: words(3) } },
      events: { rows: 30, columns: { id: serial(), host_id: to("accounts.id"), starts: date(), capacity: int(5, 30) } },
      comments: {
        rows: 500,
        columns: {
          id: serial(), account_id: to("accounts.id"), commentable_type: pick("Post", "Photo", "Event"),
          commentable_id: { type: "INTEGER", make: ({ line, random }) => 1 + Math.floor(random() * ({ Post: 120, Photo: 80, Event: 30 }[String(line["commentable_type"])] ?? 1)) },
          body: words(6),
        },
      },
      tags: { rows: 25, columns: { id: serial(), label: title() } },
      taggings: {
        rows: 300,
        columns: {
          id: serial(), tag_id: to("tags.id"), taggable_type: pick("Post", "Photo"),
          taggable_id: { type: "INTEGER", make: ({ line, random }) => 1 + Math.floor(random() * ({ Post: 120, Photo: 80 }[String(line["taggable_type"])] ?? 1)) },
        },
      },
    },
    undeclarable: [
      { from: "comments", column: "commentable_id", to: "posts", toColumn: "id" },
      { from: "comments", column: "commentable_id", to: "photos", toColumn: "id" },
      { from: "comments", column: "commentable_id", to: "events", toColumn: "id" },
      { from: "taggings", column: "taggable_id", to: "posts", toColumn: "id" },
      { from: "taggings", column: "taggable_id", to: "photos", toColumn: "id" },
    ],
  },
  {
    name: "traps",
    about: "keys 1..n everywhere; quantities, ratings, years, flags and four-row tables that fit into them",
    tables: {
      status: { rows: 4, columns: { id: serial(), label: listed("open", "paid", "sent", "void") } },
      sizes: { rows: 4, columns: { id: serial(), label: listed("S", "M", "L", "XL") } },
      priorities: { rows: 5, columns: { id: serial(), label: title() } },
      seasons: { rows: 30, columns: { id: serial(), year: serial(1995), theme: words() } },
      shops: { rows: 12, columns: { id: serial(), name: title(), rank: int(1, 5), floors: int(1, 4), opened: year() } },
      items: { rows: 100, columns: { id: serial(), shop_id: to("shops.id"), size_id: to("sizes.id"), rating: int(1, 5), percent_off: int(1, 100), is_new: flag(), stock: int(1, 12) } },
      baskets: { rows: 240, columns: { id: serial(), status_id: to("status.id"), priority: to("priorities.id"), visits: int(1, 30), weekday: int(1, 7), month: int(1, 12), season_id: to("seasons.id") } },
      basket_items: { rows: 700, columns: { basket_id: to("baskets.id"), item_id: to("items.id"), quantity: int(1, 10), position: int(1, 12) }, key: ["basket_id", "item_id"] },
    },
    views: { basket_totals: "SELECT b.id AS basket_id, count(*) AS item_count FROM baskets b JOIN basket_items i ON i.basket_id = b.id GROUP BY b.id", open_baskets: "SELECT * FROM baskets WHERE status_id = 1" },
  },
  {
    name: "star",
    about: "dim_ and fact_ tables, surrogate keys, a table of dates, copies and archives",
    tables: {
      dim_date: { rows: 730, columns: { date_key: serial(20_200_101), year: int(2020, 2021), month: int(1, 12), weekday: int(1, 7) } },
      dim_customer: { rows: 140, columns: { customer_key: serial(), customer_id: code("C-#####"), name: words(), segment: pick("A", "B", "C") } },
      dim_product: { rows: 90, columns: { product_key: serial(), sku: code("AA####"), brand: words(1), list_price: money() } },
      dim_store: { rows: 20, columns: { store_key: serial(), store_name: title(), sqm: int(50, 900) } },
      dim_promotion: { rows: 11, columns: { promotion_key: serial(), promo_name: title() } },
      fact_sales: {
        rows: 2000,
        columns: {
          sales_key: serial(), order_date_key: to("dim_date.date_key"), ship_date_key: to("dim_date.date_key"), customer_key: to("dim_customer.customer_key"), product_key: to("dim_product.product_key"),
          store_key: to("dim_store.store_key"), promotion_key: to("dim_promotion.promotion_key", { nulls: 0.6 }), units: int(1, 20), revenue: money(),
        },
      },
      fact_sales_archive: {
        rows: 600,
        columns: {
          sales_key: serial(90_001), order_date_key: to("dim_date.date_key"), ship_date_key: to("dim_date.date_key"), customer_key: to("dim_customer.customer_key"), product_key: to("dim_product.product_key"),
          store_key: to("dim_store.store_key"), promotion_key: to("dim_promotion.promotion_key", { nulls: 0.6 }), units: int(1, 20), revenue: money(),
        },
      },
      fact_inventory: { rows: 900, columns: { date_key: to("dim_date.date_key"), product_key: to("dim_product.product_key"), store_key: to("dim_store.store_key"), on_hand: int(0, 90) }, key: ["date_key", "product_key", "store_key"] },
    },
  },
  {
    name: "empty",
    about: "no rows at all: names and types must do",
    tables: {
      tenants: { rows: 0, columns: { id: uuid("t"), name: words(), plan: words(1) } },
      members: { rows: 0, columns: { id: uuid("m"), tenant_id: to("tenants.id", { type: "TEXT" }), email: email(), invited_by_id: to("members.id", { type: "TEXT" }) } },
      projects: { rows: 0, columns: { id: uuid("p"), tenant_id: to("tenants.id", { type: "TEXT" }), lead_member_id: to("members.id", { type: "TEXT" }), title: title() } },
      task_states: { rows: 0, columns: { id: serial(), label: words(1) } },
      tasks: { rows: 0, columns: { id: serial(), project_id: to("projects.id", { type: "TEXT" }), state_id: to("task_states.id"), parent_task_id: to("tasks.id"), estimate: int(1, 9), assignee_member_id: to("members.id", { type: "TEXT" }) } },
      task_labels: { rows: 0, columns: { task_id: to("tasks.id"), label_id: to("labels.id") }, key: ["task_id", "label_id"] },
      labels: { rows: 0, columns: { id: serial(), name: words(1), colour: words(1) } },
      time_entries: { rows: 0, columns: { id: serial(), task_id: to("tasks.id"), member_id: to("members.id", { type: "TEXT" }), minutes: int(1, 90), billed: flag() } },
    },
  },
  {
    name: "denormalised",
    about: "copies of names, archives and backups, numbers kept as text, orphans, 0 for none",
    tables: {
      customer: { rows: 160, columns: { customer_id: serial(), customer_name: title(), city: words(1) } },
      customer_backup: { rows: 150, columns: { customer_id: serial(), customer_name: title(), city: words(1) } },
      sales_order: {
        rows: 500,
        columns: { order_id: serial(), customer_id: to("customer.customer_id"), customer_name: copied("customer.customer_id", "customer_name", "customer_id"), parent_order_id: to("sales_order.order_id", { nulls: 0.8, none: 0 }), total: money() },
      },
      sales_order_history: { rows: 800, columns: { history_id: serial(), order_id: to("sales_order.order_id"), changed_at: date(), old_total: money() } },
      invoice: { rows: 300, columns: { invoice_no: code("INV-#####"), order_id: to("sales_order.order_id", { type: "TEXT" }), amount: money() } },
      payment: { rows: 280, columns: { payment_id: serial(), invoice_no: to("invoice.invoice_no", { type: "TEXT" }), method: pick("card", "cash"), paid: date() } },
      legacy_note: { rows: 90, columns: { note_id: serial(), customer_id: { ...to("customer.customer_id"), make: ({ row, random }) => (row % 20 === 0 ? 9000 + row : 1 + Math.floor(random() * 160)) }, text: words(8) } },
    },
  },
  manyTables({ name: "four-hundred", seed: 41, tables: 400, style: "modules" }),
];
