import { writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { scratchMachine } from "../../testing/run-tandem.ts";

const end = z.strictObject({ table: z.string(), columns: z.array(z.string()).min(1) });
const output = z.array(
  z.strictObject({
    from: end,
    to: end,
    status: z.enum(["accepted", "review"]),
    confidence: z.number().min(0).max(1),
    why: z.string().min(1),
  }),
);

const SHOP = `
  CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
  CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER, clerk INTEGER REFERENCES clerks (nr));
  CREATE TABLE clerks (nr INTEGER PRIMARY KEY, name TEXT);
  WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 40) INSERT INTO customers SELECT n, 'c' || n FROM c;
  INSERT INTO clerks VALUES (7, 'Ann'), (8, 'Ben');
  WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 90) INSERT INTO orders SELECT n, 1 + n % 40, 7 + n % 2 FROM c;
`;

async function machineWithShop() {
  const machine = await scratchMachine();
  const database = new DatabaseSync(`${machine.project}/shop.sqlite`);
  database.exec(SHOP);
  database.close();
  return machine;
}

describe("tandem context joins", () => {
  test("prints declared and found joins as JSON, without a project, a config or a model", async () => {
    await using machine = await machineWithShop();
    const { code, stdout, stderr } = await machine.run(["context", "joins", "shop.sqlite", "--json"]);
    expect(stderr).not.toMatch(/skipped|not_compared/);
    expect(code).toBe(0);
    const found = output.parse(JSON.parse(stdout));
    expect(found).toMatchObject([
      {
        from: { table: "orders", columns: ["clerk"] },
        to: { table: "clerks", columns: ["nr"] },
        status: "accepted",
        confidence: 1,
      },
      {
        from: { table: "orders", columns: ["customer_id"] },
        to: { table: "customers", columns: ["id"] },
        status: "accepted",
      },
    ]);
    expect(found[0]?.why).toContain("declares");
  });

  test("prints text without --json", async () => {
    await using machine = await machineWithShop();
    const { code, stdout } = await machine.run(["context", "joins", "shop.sqlite"]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/✓ +orders\.customer_id +→ +customers\.id +0\.9\d/);
    expect(stdout).toContain("2 accepted.");
  });

  test("accepts the name of a connection", async () => {
    await using machine = await machineWithShop();
    await machine.configure("connections:\n  shop: { driver: sqlite, path: shop.sqlite }\n");
    await machine.trust();
    const { code, stdout, stderr } = await machine.run(["context", "joins", "shop", "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(output.parse(JSON.parse(stdout))).toHaveLength(2);
    const other = await machine.run(["context", "joins", "shoop", "--json"]);
    expect(other.code).toBe(2);
    expect(other.stderr).toContain("Did you mean shop?");
  });

  test.each([
    ["a file that is not there", "none.sqlite", 2, "There is no file"],
    ["a name without a project", "none", 2, "no tandem.yaml"],
    ["a file that is no database", "notes.txt", 5, "not a SQLite database"],
    ["a server that is not there", "postgres://nobody@127.0.0.1:9/x", 5, ""],
  ])("%s is one sentence and a code", async (_, where, code, sentence) => {
    await using machine = await scratchMachine();
    await writeFile(`${machine.project}/notes.txt`, "hello, this is not a database at all");
    const result = await machine.run(["context", "joins", where, "--json"]);
    expect(result.stdout).toBe("");
    expect(result.code).toBe(code);
    const { error } = z.object({ error: z.object({ message: z.string() }) }).parse(JSON.parse(result.stderr));
    expect(error.message).toContain(sentence);
  });
});
