import { expect, inject } from "vitest";
import { only, type Behaviours } from "./connector-stage.ts";

export const verifyLimits: Behaviours = {
  "Returns at most the requested rows, and reports truncation": async ({ connection }) => {
    const sql = "select id from customers order by id";
    expect(await connection.query(sql, { maxRows: 2 })).toEqual({ columns: ["id"], rows: [[1], [2]], truncated: true });
    expect((await connection.query(sql, { maxRows: 3 })).truncated).toBe(false);
    expect(await connection.query("select id from customers where id < 0")).toEqual({
      columns: ["id"],
      rows: [],
      truncated: false,
    });
  },

  "Returns at most the requested bytes; truncates a long value without losing other rows": async ({
    connection,
    fixture,
  }) => {
    const long = { sqlite: "printf('%.*c', 300000, 'x')", duckdb: "repeat('x', 300000)" } as Record<string, string>;
    const expression = long[fixture.dialect] ?? "repeat('x', 300000)";
    const one = await connection.query(`select id, ${expression} from customers order by id`, { maxBytes: 100_000 });
    expect(one.truncated).toBe(true);
    expect(one.rows.map(([id]) => id)).toEqual([1, 2, 3]);
    expect(JSON.stringify(one.rows).length).toBeLessThan(110_000);
    expect(one.rows[0]![1]).toMatch(/^x{1000,}…$/);
    const many = await connection.query(`select a.id, ${expression} from customers a, customers b, customers c`);
    expect(many.truncated).toBe(true);
    expect(JSON.stringify(many.rows).length).toBeLessThan(1_100_000);
  },

  "Returns the first rows of an endless result at once": async ({ connection, fixture }) => {
    const { rows, truncated } = await connection.query(fixture.samples.endless, {
      timeoutMs: 20_000 * inject("slowness"),
    });
    expect(rows).toHaveLength(1_000);
    expect(truncated).toBe(true);
    expect(only(await connection.query("select count(*) from customers"))).toBe(3);
  },

  "A slow query ends at its deadline, and the next one works": async ({ connection, fixture }) => {
    const began = performance.now();
    const asked = connection.query(fixture.samples.slow, { timeoutMs: 300 });
    await expect(asked).rejects.toMatchObject({ name: "ConnectionError", code: "query_timeout" });
    expect(performance.now() - began).toBeLessThan(15_000 * inject("slowness"));
    expect(only(await connection.query("select count(*) from customers"))).toBe(3);
  },

  "A query ends when its signal fires, and does not start if it has fired": async ({ connection, fixture }) => {
    const reason = new Error("enough");
    const controller = new AbortController();
    const asked = connection.query(fixture.samples.slow, { signal: controller.signal });
    setTimeout(() => controller.abort(reason), 200);
    await expect(asked).rejects.toBe(reason);
    await expect(connection.query("select 1", { signal: controller.signal })).rejects.toBe(reason);
    expect(only(await connection.query("select count(*) from customers"))).toBe(3);
  },

  "More concurrent queries than connections all complete": async ({ connection }) => {
    const numbers = Array.from({ length: 40 }, (_, index) => index);
    const asked = numbers.map((number) => connection.query(`select ${number} + id from customers where id = 1`));
    expect((await Promise.all(asked)).map(only)).toEqual(numbers.map((number) => number + 1));
  },
};
