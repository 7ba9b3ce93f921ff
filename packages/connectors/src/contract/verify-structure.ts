import { expect, inject } from "vitest";
import type { Table } from "../connection.ts";
import type { Stage, Behaviours } from "./connector-stage.ts";

async function tableOf({ connection }: Stage, name: string): Promise<Table> {
  const found = (await connection.structure()).find((table) => table.name === name);
  if (!found) throw new Error(`There is no table ${name}.`);
  return found;
}

/** SQLite has no enums. */
const MOODS: Record<Stage["fixture"]["dialect"], [make: string[], type: string]> = {
  sqlite: [[], "text"],
  mysql: [[], "enum('sad', 'it''s fine')"],
  duckdb: [["create type mood as enum ('sad', 'it''s fine')"], "mood"],
  postgres: [["create type mood as enum ('sad', 'it''s fine')"], "mood"],
};

export const verifyStructure: Behaviours = {
  "Lists tables and views, with columns in order, their type, kind and nullability": async (stage) => {
    const tables = await stage.connection.structure();
    expect(tables.map(({ name, type }) => `${type} ${name}`).sort()).toEqual([
      "table countries",
      "table customers",
      "table orders",
      "table straße",
      "view paid_orders",
    ]);
    const orders = await tableOf(stage, "orders");
    expect(orders.columns.map(({ name, kind, nullable }) => [name, kind, nullable])).toEqual([
      ["id", "integer", false],
      ["customer_id", "integer", true],
      ["country_region", "text", true],
      ["country_code", "text", true],
      ["total", "decimal", false],
      ["big", "integer", true],
      ["placed", "time", true],
      ["day", "date", true],
      ["raw", "binary", true],
      ["paid", "boolean", true],
    ]);
    expect(orders.columns.every(({ type }) => type !== "")).toBe(true);
    expect((await tableOf(stage, "straße")).columns.map(({ name }) => name)).toEqual(["größe", "update", 'a"b.c']);
    expect((await tableOf(stage, "paid_orders")).columns.map(({ name }) => name)).toEqual(["id", "total"]);
  },

  "Lists primary keys in key order, and unique keys without partial and expression keys": async (stage) => {
    expect(await tableOf(stage, "countries")).toMatchObject({ primaryKey: ["region", "code"], uniqueKeys: [] });
    const customers = await tableOf(stage, "customers");
    expect(customers.primaryKey).toEqual(["id"]);
    expect(customers.uniqueKeys.map((key) => key.join()).sort()).toEqual(["email", "name,parent_id"]);
    expect(await tableOf(stage, "straße")).toMatchObject({ primaryKey: [], uniqueKeys: [] });
  },

  "Lists foreign keys, including composite and self-referencing ones": async (stage) => {
    const schema = (await tableOf(stage, "customers")).schema;
    const { foreignKeys } = await tableOf(stage, "orders");
    expect(foreignKeys).toHaveLength(2);
    expect(foreignKeys).toContainEqual({
      columns: ["customer_id"],
      to: { schema, name: "customers" },
      toColumns: ["id"],
    });
    expect(foreignKeys).toContainEqual({
      columns: ["country_region", "country_code"],
      to: { schema, name: "countries" },
      toColumns: ["region", "code"],
    });
    expect((await tableOf(stage, "customers")).foreignKeys).toEqual([
      { columns: ["parent_id"], to: { schema, name: "customers" }, toColumns: ["id"] },
    ]);
  },

  "Reads the database's comments": async (stage) => {
    const customers = await tableOf(stage, "customers");
    const comments = [customers.comment, customers.columns.find(({ name }) => name === "email")?.comment];
    // SQLite has no comments.
    const expected = stage.fixture.dialect === "sqlite" ? [undefined, undefined] : ["Who buys", "Where bills go"];
    expect(comments).toEqual(expected);
  },

  "Lists check constraints, and the labels of enums": async (stage) => {
    const { dialect } = stage.fixture;
    const [make, type] = MOODS[dialect];
    await stage.fixture.execute([
      ...make,
      `create table moods (id integer primary key, level integer check (level > 0), mood ${type}, check (level < 9))`,
    ]);
    const moods = await tableOf(stage, "moods");
    const plain = (sql: string) => sql.replaceAll(/[`"()]/g, "");
    expect(moods.checks?.map(plain).toSorted()).toEqual(["level < 9", "level > 0"]);
    const labels = dialect === "sqlite" ? undefined : ["sad", "it's fine"];
    expect(moods.columns.map((column) => column.labels)).toEqual([undefined, undefined, labels]);
    await stage.fixture.execute(["drop table moods"]);
  },

  "Reads a thousand tables within seconds": async (stage) => {
    const names = Array.from({ length: 1_000 }, (_, index) => `many_${index}`);
    // MariaDB creates in-memory tables a hundred times faster.
    const [type, rest] = stage.fixture.dialect === "mysql" ? ["varchar(20)", "engine = memory"] : ["text", ""];
    await stage.fixture.execute(
      names.map((name) => `create table ${name} (id integer primary key, a ${type}, b integer) ${rest}`),
    );
    const began = performance.now();
    const tables = await stage.connection.structure();
    expect(performance.now() - began).toBeLessThan(40_000 * inject("slowness"));
    expect(tables.filter(({ name }) => name.startsWith("many_"))).toHaveLength(1_000);
    expect(tables.find(({ name }) => name === "many_999")).toMatchObject({ primaryKey: ["id"], columns: [{}, {}, {}] });
  },
};
