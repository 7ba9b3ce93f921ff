import { expect } from "vitest";
import { only, type Behaviours } from "./connector-stage.ts";

const TEXTS = [
  "straße 東京 🙂",
  `it's "quoted" \\ and \`ticked\``,
  "line\nline\r\n\ttab",
  "'; drop table orders; --",
  "?",
  "",
];

export const verifyValues: Behaviours = {
  "Loses no digit; dates are ISO, binary is hex, null is null": async ({ connection, fixture }) => {
    const { columns, rows, truncated } = await connection.query("select * from orders where id = 1");
    expect(truncated).toBe(false);
    expect(Object.fromEntries(columns.map((name, index) => [name, rows[0]![index]]))).toEqual(fixture.samples.order);
    expect((await connection.query("select * from orders where id = 2")).rows[0]!.slice(5)).toEqual([
      null,
      null,
      null,
      null,
      null,
    ]);
    expect(only(await connection.query("select count(*) from orders"))).toBe(3);
  },

  "Text of any script, quotes and line ends round-trip": async ({ connection, fixture }) => {
    const text = fixture.dialect === "mysql" ? "char" : fixture.dialect === "duckdb" ? "varchar" : "text";
    for (const value of TEXTS) {
      const result = await connection.query(`select cast(? as ${text})`, { parameters: [value] });
      expect(only(result)).toBe(value);
    }
    const [größe, updated] = (await connection.query(`select * from ${connection.quote("straße")}`)).rows[0]!;
    expect([größe, updated]).toEqual(["zwölf", "; drop table orders"]);
  },

  "Parameters are `?` in order, and their values are never code": async ({ connection }) => {
    const sql = "select id, name from customers where id > ? and name <> ? order by id limit 2";
    expect((await connection.query(sql, { parameters: [0, "x' or 1 = 1"] })).rows).toEqual([
      [1, "Ada"],
      [2, "Grace"],
    ]);
    expect((await connection.query("select id from customers where name = ?", { parameters: ["Ada"] })).rows).toEqual([
      [1],
    ]);
    expect(
      (await connection.query("select id from orders where day = ?", { parameters: ["2024-02-29"] })).rows,
    ).toEqual([[1]]);
    expect((await connection.query("select id from customers where name = ?", { parameters: [null] })).rows).toEqual(
      [],
    );
  },

  "`?` in strings, names and comments is not a parameter": async ({ connection }) => {
    const name = connection.quote("what?");
    const sql = `select '?' as ${name}, ? as b -- really?\n from customers /* ? */ where id = ?`;
    expect(await connection.query(sql, { parameters: ["x", 1] })).toEqual({
      columns: ["what?", "b"],
      rows: [["?", "x"]],
      truncated: false,
    });
  },

  "Reports too few or too many parameters": async ({ connection }) => {
    for (const parameters of [[], [1], [1, 2, 3]]) {
      const asked = connection.query("select id from customers where id in (?, ?)", { parameters });
      await expect(asked).rejects.toMatchObject({ name: "ConnectionError", code: "query_failed" });
    }
  },

  "Estimates a query's reads without running it": async ({ connection, fixture }) => {
    const sql = "select * from orders join customers on customers.id = orders.customer_id where customers.id > ?";
    const estimate = await connection.estimate(sql, { parameters: [0] });
    expect(estimate.plan).toMatch(/orders/);
    // SQLite has no estimate.
    if (fixture.dialect !== "sqlite") expect(estimate.rows).toBeGreaterThan(0);
    await expect(connection.estimate("delete from orders")).rejects.toMatchObject({ code: "query_refused" });
  },
};
