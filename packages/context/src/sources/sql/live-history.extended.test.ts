import { openConnection } from "@tandem/connectors";
import { startMariaDb, whyNoMariaDb } from "@tandem/connectors/testing";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { describe, expect, it } from "vitest";
import type { SourceEntry } from "../source.ts";
import { listLiveHistory } from "./list-live-history.ts";

async function listed(location: Parameters<typeof openConnection>[0]) {
  await using connection = await openConnection(location);
  // Tandem's own reads must not come back as other people's queries.
  await connection.query("select secret_column from orders where status = 'mine' limit 3");
  const entries: SourceEntry[] = [];
  for await (const entry of listLiveHistory("shop", connection)) entries.push(entry);
  const texts = await Promise.all(
    entries.map(async (entry) =>
      entry.type === "item" ? [entry.item.path, new TextDecoder().decode(await entry.item.read())] : [],
    ),
  );
  const skipped = entries.flatMap((entry) => (entry.type === "skipped" ? [entry.error] : []));
  return { documents: Object.fromEntries(texts.filter((each) => each.length > 0)) as Record<string, string>, skipped };
}

const QUERIES = [
  "select status, count(*) from orders o join customers c on c.id = o.customer_id where o.status = 'paid' group by 1 order by 2 desc",
  "select name from customers where email = 'ada@example.com'",
];
const SCHEMA =
  "create table customers (id int, name varchar(20), email varchar(50)); " +
  "create table orders (id int, customer_id int, status varchar(20), secret_column varchar(20));";

describe.skipIf(whyNoPostgres())("pg_stat_statements", () => {
  it("gives queries without values and without our own, and says what is missing", async () => {
    await using postgres = await startPostgres({ settings: ["shared_preload_libraries=pg_stat_statements"] });
    const without = await postgres.createDatabase(SCHEMA);
    await expect(listed({ driver: "postgres", url: without })).rejects.toMatchObject({
      code: "history_unavailable",
      message: "shop keeps no query history: pg_stat_statements is not loaded.",
      fix: expect.stringContaining("create extension pg_stat_statements"),
    });

    const url = await postgres.createDatabase(`${SCHEMA}
      create schema stats; create extension pg_stat_statements schema stats; create role reader login;
      grant select on all tables in schema public to reader; grant usage on schema stats to reader;
      ${[...QUERIES, ...QUERIES, ...QUERIES].join("; ")};
      insert into orders values (1, 1, 'paid', 'x');`);
    const { documents, skipped } = await listed({ driver: "postgres", url });
    expect(skipped).toEqual([]);
    expect(Object.keys(documents).toSorted()).toEqual(["history/customers.md", "history/orders.md"]);
    expect(documents["history/orders.md"]).toContain("where o.status = ? group by 1 order by 2 desc");
    expect(documents["history/orders.md"]).toContain("- `customers`: about 3 times");
    expect(JSON.stringify(documents)).not.toMatch(/paid|ada@example|secret_column|mine/);

    const reader = await listed({ driver: "postgres", url: url.replace("postgres@", "reader@") }).catch(
      (error: unknown) => error,
    );
    expect(reader).toMatchObject({
      skipped: [{ message: expect.stringContaining("hidden"), fix: expect.stringContaining("pg_read_all_stats") }],
    });
  });
});

describe.skipIf(whyNoMariaDb())("performance_schema", () => {
  it("gives queries without values and without our own, and says what is missing", async () => {
    await using mariadb = await startMariaDb({ settings: ["--performance-schema=ON"] });
    const admin = await mariadb.connect();
    await admin.query("create database shop");
    await admin.query("create user reader@localhost; grant select on shop.* to reader@localhost");
    await admin.end();
    const client = await mariadb.connect("shop");
    await client.query(SCHEMA);
    for (let times = 0; times < 3; times += 1) for (const sql of QUERIES) await client.query(sql);
    await client.end();
    const { documents, skipped } = await listed({ driver: "mysql", url: mariadb.url("shop") });
    expect(skipped).toEqual([]);
    expect(Object.keys(documents).toSorted()).toEqual(["history/customers.md", "history/orders.md"]);
    expect(documents["history/orders.md"]).toMatch(/WHERE o\.STATUS = \?/i);
    expect(JSON.stringify(documents)).not.toMatch(/paid|ada@example|secret_column|mine/);

    await expect(listed({ driver: "mysql", url: mariadb.url("shop", "reader") })).rejects.toMatchObject({
      code: "history_unavailable",
      fix: expect.stringContaining("performance_schema"),
    });
  });

  it("is off by default in MariaDB, and the error says how to turn it on", async () => {
    await using mariadb = await startMariaDb();
    const admin = await mariadb.connect();
    await admin.query(`create database shop; use shop; ${SCHEMA}`);
    await admin.end();
    await expect(listed({ driver: "mysql", url: mariadb.url("shop") })).rejects.toMatchObject({
      code: "history_unavailable",
      fix: expect.stringContaining("performance_schema=ON"),
    });
  });
});
