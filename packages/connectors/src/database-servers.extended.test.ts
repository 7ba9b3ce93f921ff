import { createServer, type Server } from "node:net";
import { inspect } from "node:util";
import { startPostgres, whyNoPostgres, type TestPostgres } from "@tandem/storage/testing";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest";
import type { Connection } from "./connection.ts";
import { ConnectionError } from "./connection-error.ts";
import type { DatabaseLocation } from "./database-location.ts";
import { openConnection } from "./open-connection.ts";
import { startMariaDb, whyNoMariaDb, type TestMariaDb } from "./testing/mariadb.ts";

const PASSWORD = "made-up-hunter2";

/** The connection error, checked not to contain the password in any property. */
async function failureOf(location: DatabaseLocation): Promise<{ code: string; message: string; fix: string }> {
  const error: unknown = await openConnection(location).catch((reason: unknown) => reason);
  expect(`${inspect(error, { depth: 9, showHidden: true })} ${JSON.stringify(error)}`).not.toContain(PASSWORD);
  return error as { code: string; message: string; fix: string };
}

const one = async (connection: Connection): Promise<unknown> => (await connection.query("select 1")).rows[0]![0];

describe.each(["postgres", "mysql"] as const)("a server of %s", (driver) => {
  let silent: Server | undefined;
  let port = 0;
  beforeAll(async () => {
    silent = createServer(() => {});
    await new Promise<void>((resolve) => silent!.listen(0, "127.0.0.1", resolve));
    port = (silent.address() as { port: number }).port;
  });
  afterAll(() => silent?.close());

  it("reports an unreachable server in one sentence, without the password", async () => {
    const failure = await failureOf({ driver, url: `${driver}://ada:${PASSWORD}@127.0.0.1:1/shop` });
    expect(failure).toMatchObject({
      name: "ConnectionError",
      code: "connection_failed",
      message: "shop at 127.0.0.1:1 cannot be reached (ECONNREFUSED).",
      fix: "No server listens there: start it, or check host and port.",
    });
  });

  it("reports an unknown host", async () => {
    const failure = await failureOf({ driver, url: `${driver}://ada:${PASSWORD}@nowhere.invalid/shop` });
    expect(failure.code).toBe("connection_failed");
    expect(failure.message).toContain("nowhere.invalid");
  });

  it("times out on a server that does not answer", async () => {
    const failure = await failureOf({ driver, url: `${driver}://ada:${PASSWORD}@127.0.0.1:${port}/shop` });
    expect(failure.code).toBe("connection_failed");
  });

  it.each([`${PASSWORD}/x`, `${PASSWORD}#x`, `1/${PASSWORD}`])(
    "with %s as a password that is not encoded",
    async (password) => {
      const failure = await failureOf({ driver, url: `${driver}://ada:${password}@127.0.0.1:1/shop` });
      expect(failure).toMatchObject({ code: "connection_failed", fix: expect.stringContaining("%XX") });
    },
  );

  it("reports a wrong URL scheme", async () => {
    const failure = await failureOf({ driver, url: `https://ada:${PASSWORD}@127.0.0.1/shop` });
    expect(failure.message).toContain(`${driver}://`);
  });
});

describe.skipIf(whyNoPostgres())(`Postgres${whyNoPostgres() ? ` (skipped: ${whyNoPostgres()})` : ""}`, () => {
  let postgres: TestPostgres;
  let url = "";
  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.createDatabase();
    const client = new Client(url);
    await client.connect();
    await client.query(`
      create schema sales; create schema hidden;
      create table public.people (id int primary key, name text);
      create table sales.deals (id int, person int references public.people, region text, amount numeric, primary key (id, region))
        partition by list (region);
      create table sales.deals_eu partition of sales.deals for values in ('EU');
      create table hidden.secrets (a int);
      create materialized view sales.totals as select count(*) as n from sales.deals;
      create domain sales.money_amount as numeric(10, 2);
      create type sales.mood as enum ('glad', 'sad');
      create table sales.moods (a sales.mood, b sales.money_amount, c int[], d uuid, e jsonb, f interval);
      create role reader login password '${PASSWORD}';
      grant usage on schema public, sales to reader;
      grant select on all tables in schema public, sales to reader;`);
    await client.end();
  });
  afterAll(() => postgres?.[Symbol.asyncDispose]());

  it("shows a role without ownership all keys across schemas, and nothing it may not read", async () => {
    await using connection = await openConnection({ driver: "postgres", url: url.replace("postgres@", "reader@") });
    const tables = await connection.structure();
    expect(tables.map(({ schema, name, type }) => `${type} ${schema}.${name}`)).toEqual([
      "table public.people",
      "table sales.deals",
      "table sales.moods",
      "view sales.totals",
    ]);
    expect(tables.find(({ name }) => name === "deals")).toMatchObject({
      primaryKey: ["id", "region"],
      foreignKeys: [{ columns: ["person"], to: { schema: "public", name: "people" }, toColumns: ["id"] }],
    });
    const kinds = tables.find(({ name }) => name === "moods")!.columns.map(({ kind }) => kind);
    expect(kinds).toEqual(["text", "decimal", "other", "uuid", "json", "other"]);
    await expect(connection.query("select * from hidden.secrets")).rejects.toMatchObject({ code: "query_failed" });
  });

  it("resolves names in the given schemas", async () => {
    await using connection = await openConnection({ driver: "postgres", url, schemas: ["sales"] });
    expect((await connection.structure()).every(({ schema }) => schema === "sales")).toBe(true);
    expect((await connection.query("select count(*) from moods")).rows).toEqual([[0]]);
    await expect(connection.query("select * from people")).rejects.toMatchObject({ code: "not_there" });
  });

  it("explains a wrong role, database or TLS setting", async () => {
    const location = (change: (url: string) => string): DatabaseLocation => ({ driver: "postgres", url: change(url) });
    expect(await failureOf(location((text) => text.replace("postgres@", `nobody:${PASSWORD}@`)))).toMatchObject({
      code: "connection_refused",
    });
    expect(await failureOf(location((text) => text.replace(/\/test_\d+/, "/nowhere")))).toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining("There is no database nowhere"),
    });
    expect(await failureOf(location((text) => `${text}&sslmode=verify-full`))).toMatchObject({
      message: expect.stringContaining("does not speak TLS"),
    });
  });

  it("reconnects after an outage", async () => {
    await using connection = await openConnection({ driver: "postgres", url });
    expect(await one(connection)).toBe(1);
    await postgres.kill();
    // The backend process may answer once more before it notices that the server was killed.
    const asked = () =>
      one(connection).then(
        () => "answered",
        (error: unknown) => (error instanceof ConnectionError ? error.code : String(error)),
      );
    await expect.poll(asked).toBe("connection_failed");
    await postgres.start();
    expect(await one(connection)).toBe(1);
  });
});

describe.skipIf(whyNoMariaDb())(`MariaDB${whyNoMariaDb() ? ` (skipped: ${whyNoMariaDb()})` : ""}`, () => {
  let server: TestMariaDb;
  beforeAll(async () => {
    server = await startMariaDb();
    const client = await server.connect();
    await client.query(`
      create database shop; create database other;
      create table other.people (id int primary key);
      create table shop.deals (id int primary key, person int, foreign key (person) references other.people (id));
      create user reader; grant select on shop.* to reader;
      create user guarded identified by 'right';`);
    await client.end();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  it("shows a read-only user the keys, also to other databases", async () => {
    await using connection = await openConnection({ driver: "mysql", url: server.url("shop", "reader") });
    expect(await connection.structure()).toMatchObject([
      {
        name: "deals",
        foreignKeys: [{ columns: ["person"], to: { schema: "other", name: "people" }, toColumns: ["id"] }],
      },
    ]);
  });

  it("explains a wrong user, password, database or TLS setting", async () => {
    const wrong = { code: "connection_refused", message: expect.stringContaining("refuses this user or password") };
    expect(await failureOf({ driver: "mysql", url: server.url("shop", `guarded:${PASSWORD}`) })).toMatchObject(wrong);
    expect(await failureOf({ driver: "mysql", url: server.url("shop", `nobody:${PASSWORD}`) })).toMatchObject(wrong);
    expect(await failureOf({ driver: "mysql", url: server.url("nowhere") })).toMatchObject({
      message: expect.stringContaining("There is no database nowhere"),
    });
    expect(await failureOf({ driver: "mysql", url: `${server.url("shop")}&ssl={}` })).toMatchObject({
      message: expect.stringContaining("does not speak TLS"),
    });
  });

  it("uses the current password after it was rotated", async () => {
    const admin = await server.connect();
    await admin.query("create user rotated identified by 'old'");
    const url = (password: string) => server.url("", `rotated:${password}`);
    let [kept, asked] = ["old", 0];
    const renew = async () => {
      asked += 1;
      return url(kept);
    };
    await using connection = await openConnection({ driver: "mysql", url: url("old"), renew });
    const rotate = async (password: string) => {
      await admin.query(`set password for rotated = password('${password}')`);
      const [rows] = await admin.query("select id from information_schema.processlist where user = 'rotated'");
      for (const { id } of rows as { id: number }[]) await admin.query(`kill ${id}`);
    };
    expect(await one(connection)).toBe(1);
    expect(asked).toBe(0);
    await rotate("new");
    // The stored password is still the old one: it is resolved once, not repeatedly.
    await expect
      .poll(() => one(connection).catch((error: unknown) => (error as ConnectionError).code))
      .toBe("connection_refused");
    const before = asked;
    await expect(one(connection)).rejects.toMatchObject({ code: "connection_refused" });
    expect(asked).toBe(before + 1);
    kept = "new";
    expect(await one(connection)).toBe(1);
    await admin.end();
  });

  it("retries once when a connection is cut in mid-query, then fails at once", async () => {
    const admin = await server.connect();
    await using connection = await openConnection({ driver: "mysql", url: server.url("shop", "reader") });
    const [all, long] = ["information_schema.columns", "select count(*) from"];
    const asked = connection.query(`${long} ${all} a, ${all} b, ${all} c`).catch((error: unknown) => error);
    const killed: number[] = [];
    while (killed.length < 2) {
      const running = async (): Promise<number | undefined> => {
        const [rows] = await admin.query(
          `select id from information_schema.processlist where user = 'reader' and info like '%${long}%'`,
        );
        // A killed connection stays listed for a moment.
        return (rows as { id: number }[]).find(({ id }) => !killed.includes(id))?.id;
      };
      const id = await vi.waitUntil(running, { timeout: 60_000 * inject("slowness") });
      await admin.query(`kill ${id}`);
      killed.push(id);
    }
    const began = performance.now();
    expect(await asked).toMatchObject({ name: "ConnectionError", code: "connection_failed" });
    expect(performance.now() - began).toBeLessThan(10_000 * inject("slowness"));
    await admin.end();
  });

  it("reconnects after an outage", async () => {
    await using connection = await openConnection({ driver: "mysql", url: server.url("shop") });
    expect(await one(connection)).toBe(1);
    await server.kill();
    await expect(one(connection)).rejects.toMatchObject({ name: "ConnectionError", code: "connection_failed" });
    await server.start();
    expect(await one(connection)).toBe(1);
  });
});
