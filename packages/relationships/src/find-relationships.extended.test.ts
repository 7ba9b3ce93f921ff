import type { Connection } from "@tandem/connectors";
import { describe, expect, test } from "vitest";
import { findRelationships } from "./find-relationships.ts";
import { profileTables } from "./data/profile-tables.ts";
import type { Suggestion } from "./relationship.ts";
import { accepted, fill, findIn, PATIENT, shown, sqliteDatabase } from "./testing/relationship-fixture.ts";

const CUSTOMERS = `CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); ${fill("customers", 50, "n", "'c' || n")}`;

describe("findRelationships", () => {
  test("explains results in sentences, with measurements", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER);
       ${fill("orders", 200, "n", "CASE WHEN n % 4 = 0 THEN NULL ELSE 1 + n % 50 END")}`,
    );
    const { relationships } = await findIn(database.connection);
    const link = relationships.find(({ status }) => status === "accepted");
    expect(link).toMatchObject({
      from: { table: { schema: "main", name: "orders" }, columns: ["customer_id"] },
      to: { table: { schema: "main", name: "customers" }, columns: ["id"] },
      origin: "data",
      cardinality: "many-to-one",
      evidence: { checked: 50, found: 50, nulls: 0.25, unique: true },
    });
    expect(link?.why.join(" ")).toMatch(/names the table.*All 50 distinct values/);
    expect(link?.confidence).toBeLessThan(1);
  });

  test("takes declared keys as they are", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE odd (x INTEGER REFERENCES customers (id)); INSERT INTO odd VALUES (999);`,
    );
    const { relationships } = await findIn(database.connection);
    expect(relationships).toEqual([expect.objectContaining({ origin: "declared", status: "accepted", confidence: 1 })]);
  });

  test("ignores quantities, years, flags and ratings that happen to match a key", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE sales (id INTEGER PRIMARY KEY, quantity INTEGER, rating INTEGER, is_new INTEGER, menge INTEGER, year INTEGER);
       ${fill("sales", 300, "n", "1 + n % 50", "1 + n % 5", "n % 2", "1 + n % 9", "2000 + n % 20")}`,
    );
    expect(accepted(await findIn(database.connection))).toEqual([]);
  });

  test("trusts values that contradict a name, and tolerates a few orphans", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS}
       CREATE TABLE strangers (id INTEGER PRIMARY KEY, customer_id INTEGER); ${fill("strangers", 60, "n", "5000 + n")}
       CREATE TABLE notes (id INTEGER PRIMARY KEY, customer_id INTEGER); ${fill("notes", 200, "n", "1 + n % 52")}`,
    );
    expect(accepted(await findIn(database.connection))).toEqual(["notes.customer_id → customers.id"]);
  });

  test("treats 0 as none", async () => {
    await using database = await sqliteDatabase(
      `CREATE TABLE category (id INTEGER PRIMARY KEY, parent_id INTEGER); ${fill("category", 12, "n", "n / 3")}`,
    );
    expect(accepted(await findIn(database.connection))).toEqual(["category.parent_id → category.id"]);
  });

  test("an extension refers to its base table, never the reverse", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE customer_details (customer_id INTEGER, bio TEXT); ${fill("customer_details", 50, "n", "'b' || n")}`,
    );
    const findings = await findIn(database.connection);
    expect(accepted(findings)).toEqual(["customer_details.customer_id → customers.id"]);
    expect(findings.relationships.find(({ status }) => status === "accepted")?.cardinality).toBe("one-to-one");
  });

  test("ignores views", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER); ${fill("orders", 90, "n", "1 + n % 50")}
       CREATE VIEW customer AS SELECT * FROM customers; CREATE VIEW open_orders AS SELECT * FROM orders;`,
    );
    expect(accepted(await findIn(database.connection))).toEqual(["orders.customer_id → customers.id"]);
  });

  test("decides by names and types if there are no rows", async () => {
    await using database = await sqliteDatabase(
      `CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE publisher (code TEXT PRIMARY KEY, pages INTEGER);
       CREATE TABLE book (isbn TEXT PRIMARY KEY, author_id INTEGER, publisher_code TEXT, editor INTEGER, author TEXT);`,
    );
    expect(accepted(await findIn(database.connection))).toEqual([
      "book.author_id → author.id",
      "book.publisher_code → publisher.code",
    ]);
  });

  test("finds polymorphic references", async () => {
    await using database = await sqliteDatabase(
      `CREATE TABLE posts (id INTEGER PRIMARY KEY, t TEXT); ${fill("posts", 40, "n", "'p'")}
       CREATE TABLE photos (id INTEGER PRIMARY KEY, t TEXT); ${fill("photos", 20, "n", "'p'")}
       CREATE TABLE likes (id INTEGER PRIMARY KEY, target_type TEXT, target_id INTEGER);
       ${fill("likes", 120, "n", "CASE WHEN n % 2 = 0 THEN 'Post' ELSE 'App\\Models\\Photo' END", "1 + n % CASE WHEN n % 2 = 0 THEN 40 ELSE 20 END")}`,
    );
    const { relationships } = await findIn(database.connection);
    const links = relationships.filter(({ status }) => status === "accepted");
    expect(links.map((link) => [shown(link), link.when?.equals])).toEqual([
      ["likes.target_id → photos.id", "App\\Models\\Photo"],
      ["likes.target_id → posts.id", "Post"],
    ]);
  });

  test("finds composite references, also to undeclared keys", async () => {
    await using database = await sqliteDatabase(
      `CREATE TABLE lines (order_no INTEGER, pos INTEGER, text TEXT); ${fill("lines", 200, "1 + n / 3", "1 + n % 3 + n / 150", "'t'")}
       CREATE TABLE returns (id INTEGER, order_no INTEGER, pos INTEGER); ${fill("returns", 60, "n", "1 + (n * 2) / 3", "1 + (n * 2) % 3 + n * 2 / 150")}`,
    );
    expect(accepted(await findIn(database.connection))).toEqual(["returns.order_no+pos → lines.order_no+pos"]);
  });

  test("checks suggestions like other candidates, and returns unusable ones", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE visits (id INTEGER PRIMARY KEY, who INTEGER, zz INTEGER); ${fill("visits", 300, "n", "1 + n % 50", "n % 400")}`,
    );
    const suggest = (column: string, table: string, to = "id"): Suggestion => ({
      from: { table: { schema: "main", name: "visits" }, columns: [column] },
      to: { table: { schema: "main", name: table }, columns: [to] },
      why: "Visitors are customers.",
    });
    const suggestions = [
      suggest("who", "customers"),
      suggest("zz", "customers"),
      suggest("whom", "customers"),
      suggest("who", "nobody"),
      suggest("who", "customers", "name"),
    ];
    const findings = await findIn(database.connection, { suggest: async () => suggestions });
    expect(accepted(findings)).toEqual(["visits.who → customers.id"]);
    expect(findings.relationships.find(({ status }) => status === "accepted")).toMatchObject({ origin: "model" });
    expect(findings.unusable.map(({ reason }) => reason)).toEqual([
      "visits has no column whom; did you mean who?",
      "There is no table main.nobody.",
      "who is integer and name is text.",
    ]);
  });

  test("does not repeat queries for a suggestion", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE visits (id INTEGER PRIMARY KEY, who INTEGER, customer_id INTEGER, parent_id INTEGER);
       ${fill("visits", 300, "n", "1 + n % 50", "1 + n % 50", "n / 2")}`,
    );
    const asked: string[] = [];
    const { connection } = database;
    const listening = Object.assign(Object.create(connection) as Connection, {
      query: (...args: Parameters<Connection["query"]>) => {
        asked.push(args[0]);
        return connection.query(...args);
      },
    });
    const tables = await connection.structure();
    const { profiles } = await profileTables(connection, tables, PATIENT);
    let before = 0;
    const findings = await findRelationships({
      connection: listening,
      tables,
      profiles,
      suggest: async (found) => {
        before = asked.length;
        expect(found.map(shown)).toContain("visits.customer_id → customers.id");
        const end = (name: string, column: string) => ({ table: { schema: "main", name }, columns: [column] });
        return [{ from: end("visits", "who"), to: end("customers", "id"), why: "Visitors are customers." }];
      },
    });
    expect(accepted(findings)).toContain("visits.who → customers.id");
    expect(before).toBeGreaterThan(0);
    // Its overlap was known already.
    expect(asked.slice(before)).toEqual([]);
  });

  test("checks composite suggestions, in any column order", async () => {
    await using database = await sqliteDatabase(
      `CREATE TABLE places (hall INTEGER, shelf TEXT, note TEXT); ${fill("places", 300, "1 + n % 7", "'s' || (n * 3 % 101)", "'x'")}
       CREATE TABLE finds (id INTEGER PRIMARY KEY, zone INTEGER, spot TEXT, other TEXT);
       ${fill("finds", 200, "n", "1 + (n * 3 / 2) % 7", "'s' || ((n * 3 / 2) * 3 % 101)", "'y' || n")}`,
    );
    const suggest = (columns: string[], toColumns: string[]): Suggestion => ({
      from: { table: { schema: "main", name: "finds" }, columns },
      to: { table: { schema: "main", name: "places" }, columns: toColumns },
      why: "A find lies on a shelf of a hall.",
    });
    const suggestions = [
      suggest(["spot", "zone"], ["shelf", "hall"]),
      suggest(["other", "zone"], ["shelf", "hall"]),
      suggest(["spot", "zone"], ["note", "hall"]),
      suggest(["spot"], ["shelf", "hall"]),
    ];
    expect(accepted(await findIn(database.connection))).toEqual([]);
    const findings = await findIn(database.connection, { suggest: async () => suggestions });
    expect(accepted(findings)).toEqual(["finds.zone+spot → places.hall+shelf"]);
    expect(findings.relationships.find(({ status }) => status === "accepted")).toMatchObject({ origin: "model" });
    expect(findings.unusable.map(({ reason }) => reason)).toEqual([
      "places.note, hall is not unique.",
      "Both ends must have as many columns.",
    ]);
  });

  test("per-tenant ids refer together with the tenant, and never to their own row", async () => {
    const rows = (table: string, count: number, ...more: string[]) =>
      fill(table, count, "1 + n % 4", "1 + n / 4", ...more);
    await using database = await sqliteDatabase(
      `CREATE TABLE tenants (tenant_id INTEGER, name TEXT); ${fill("tenants", 4, "n", "'t' || n")}
       CREATE TABLE clients (tenant_id INTEGER, id INTEGER, name TEXT, email TEXT); ${rows("clients", 120, "'c' || n % 9", "n || '@example.com'")}
       CREATE TABLE bills (tenant_id INTEGER, id INTEGER, client_id INTEGER, payer_client_id INTEGER);
       ${rows("bills", 399, "1 + n / 16", "1 + (n * 5 / 4) % 29")}`,
    );
    expect(accepted(await findIn(database.connection))).toEqual([
      "bills.tenant_id+client_id → clients.tenant_id+id",
      "bills.tenant_id+payer_client_id → clients.tenant_id+id",
      "clients.tenant_id → tenants.tenant_id",
    ]);
  });

  test("a column named like a table refers to the key of its own type", async () => {
    await using database = await sqliteDatabase(
      `CREATE TABLE category (id INTEGER, code TEXT, label TEXT, parent TEXT);
       ${fill("category", 40, "n", "printf('C%04d', n * 7)", "'l' || n % 5", "CASE WHEN n > 3 THEN printf('C%04d', n / 3 * 7) END")}
       CREATE TABLE product (id INTEGER, ref TEXT, category TEXT); ${fill("product", 300, "n", "printf('R%06d', n * 13)", "printf('C%04d', (1 + n % 40) * 7)")}
       CREATE TABLE price (ref TEXT, amount REAL); ${fill("price", 900, "printf('R%06d', (1 + n % 300) * 13)", "n * 0.5")}
       CREATE TABLE stock (ref TEXT, pieces INTEGER); ${fill("stock", 250, "printf('R%06d', n * 13)", "n % 60")}`,
    );
    expect(accepted(await findIn(database.connection))).toEqual([
      "category.parent → category.code",
      "price.ref → product.ref",
      "product.category → category.code",
      "stock.ref → product.ref",
    ]);
  });

  test("without a query budget accepts nothing, leaves names to a review, and says which tables were not compared", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER); ${fill("orders", 90, "n", "1 + n % 50")}`,
    );
    const findings = await findIn(database.connection, { options: { pairs: 0 } });
    expect(accepted(findings)).toEqual([]);
    expect(findings.relationships).toMatchObject([
      { status: "review", why: expect.arrayContaining(["Its values were not compared."]) },
    ]);
    expect(findings.asked).toBe(0);
    expect(findings.notCompared).toMatchObject({
      pairs: expect.any(Number),
      tables: [{ schema: "main", name: "orders" }],
      budgets: ["pairs"],
    });
    for (const options of [{ queries: 0 }, { timeMs: 0 }]) {
      const ended = await findIn(database.connection, { options });
      expect(accepted(ended)).toEqual([]);
      expect(ended.notCompared.budgets).toEqual([options.queries === 0 ? "queries" : "seconds"]);
    }
  });
});

describe("profileTables", () => {
  test("a column that cannot be read loses its own profile only, and no join on it is accepted", async () => {
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE raw (id INTEGER PRIMARY KEY, note TEXT); ${fill("raw", 40, "n", "'x' || n")}
       CREATE VIEW orders AS SELECT id, 1 + id % 50 AS total, json_extract(note, '$.c') AS customer_id FROM raw;`,
    );
    const tables = await database.connection.structure();
    const { profiles, failures } = await profileTables(database.connection, tables, PATIENT);
    expect(failures).toEqual([]);
    const view = profiles.find(({ name }) => name === "orders")!;
    expect(view).toMatchObject({ rows: 40, unreadable: [{ name: "customer_id", code: "query_failed" }] });
    expect(view.columns.map(({ name }) => name)).toEqual(["id", "total"]);
    const { relationships } = await findIn(database.connection);
    const doubtful = relationships.filter(({ from }) => from.columns.includes("customer_id"));
    expect(doubtful.map(({ status }) => status)).not.toContain("accepted");
    expect(doubtful.flatMap(({ why }) => why).join()).not.toContain("no values yet");
  });

  test("returns counts, ranges and samples, most frequent value first", async () => {
    await using database = await sqliteDatabase(
      `CREATE TABLE t (id INTEGER PRIMARY KEY, kind TEXT, n INTEGER); ${fill("t", 30, "n", "CASE WHEN n % 3 = 0 THEN 'b' ELSE 'aa' END", "NULLIF(n % 10, 0)")}`,
    );
    const { profiles } = await profileTables(database.connection, await database.connection.structure(), PATIENT);
    expect(profiles[0]).toMatchObject({ rows: 30, rowsAreExact: true, sampled: 30 });
    expect(profiles[0]?.columns).toMatchObject([
      { name: "id", unique: true, nulls: 0, distinct: 30, min: 1, max: 30 },
      { name: "kind", unique: false, distinct: 2, lengths: [1, 2], samples: ["aa", "b"] },
      { name: "n", distinct: 9, min: 1, max: 9 },
    ]);
    expect(profiles[0]?.columns[2]?.nulls).toBeCloseTo(0.1);
  });

  test("samples a large table, with exact size and ranges", async () => {
    await using database = await sqliteDatabase(`CREATE TABLE t (id INTEGER PRIMARY KEY); ${fill("t", 5000, "n")}`);
    const tables = await database.connection.structure();
    const { profiles } = await profileTables(database.connection, tables, { ...PATIENT, sampleRows: 100 });
    expect(profiles[0]).toMatchObject({ rows: 5000, sampled: 100, columns: [{ distinct: 100, max: 5000 }] });
  });

  test("samples and probes the whole range of a large table", async () => {
    // Only the older half of the rows refers to customers.
    await using database = await sqliteDatabase(
      `${CUSTOMERS} CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, state TEXT);
       ${fill("orders", 40_000, "n", "CASE WHEN n <= 20000 THEN 1 + n % 50 ELSE 90000 + n END", "CASE WHEN n <= 20000 THEN 'old' ELSE 'new' END")}
       CREATE TABLE bare (name TEXT PRIMARY KEY) WITHOUT ROWID; ${fill("bare", 3_000, "'n' || n")}`,
    );
    const tables = await database.connection.structure();
    const { profiles } = await profileTables(database.connection, tables, { ...PATIENT, sampleRows: 2_000 });
    const orders = profiles.find(({ name }) => name === "orders");
    expect(orders).toMatchObject({ rows: 40_000, sampled: 2_000 });
    expect(orders?.columns[2]?.samples.toSorted()).toEqual(["new", "old"]);
    expect(profiles.find(({ name }) => name === "bare")).toMatchObject({ rows: 3_000, sampled: 2_000 });
    expect(accepted(await findIn(database.connection))).toEqual([]);
  });

  test("reads every value of small columns for a catalogue, and verifies unique columns on all rows", async () => {
    await using database = await sqliteDatabase(
      `CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT, state TEXT, almost TEXT, many INTEGER);
       ${fill("t", 5000, "n", "'c' || n", "CASE WHEN n = 4999 THEN 'rare' WHEN n % 3 = 0 THEN 'b' ELSE 'a' END", "'a' || max(n, 2)", "n % 300")}`,
    );
    const tables = await database.connection.structure();
    const [t] = (
      await profileTables(database.connection, tables, { ...PATIENT, sampleRows: 100, isForCatalogue: true })
    ).profiles;
    const domainOf = (name: string) => t!.columns.find((column) => column.name === name)!.domain;
    expect(domainOf("state")).toEqual({ values: ["a", "b", "rare"], of: "all" });
    expect(domainOf("many")).toBeUndefined();
    expect(domainOf("code")).toBeUndefined();
    expect(t!.verifiedKeys).toEqual([{ columns: ["code"], of: "all" }]);
  });

  test("lists a vanished table and continues", async () => {
    await using database = await sqliteDatabase("CREATE TABLE a (x INTEGER); CREATE TABLE b (x INTEGER);");
    const tables = await database.connection.structure();
    const gone = { ...tables[0]!, name: "gone" };
    const { profiles, failures } = await profileTables(database.connection, [gone, ...tables], PATIENT);
    expect(profiles.map(({ name }) => name).toSorted()).toEqual(["a", "b"]);
    expect(failures).toMatchObject([{ table: { name: "gone" }, code: "not_there" }]);
  });

  test("lists tables beyond the deadline", async () => {
    await using database = await sqliteDatabase("CREATE TABLE a (x INTEGER);");
    const { failures } = await profileTables(database.connection, await database.connection.structure(), {
      deadline: 0,
    });
    expect(failures).toMatchObject([{ table: { name: "a" }, code: "query_timeout" }]);
  });
});
