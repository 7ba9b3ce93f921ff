import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";
import { scannedMachine } from "../../testing/scanned-shop.ts";

const machine = await scannedMachine();

const json = async (...args: string[]) => {
  const { code, stdout, stderr } = await machine.run([...args, "--json"]);
  return { code, stderr, value: stdout === "" ? undefined : (JSON.parse(stdout) as Record<string, never>) };
};

describe("tandem context", () => {
  test("search finds pages, tables and values", async () => {
    const { code, stdout } = await machine.run(["context", "search", "refunds"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("page:refunds")]);
    expect(await json("context", "search", "Zürich", "--kind", "value")).toMatchObject({
      value: { hits: [{ key: "value:shop/main.customers.city" }] },
    });
    expect((await machine.run(["context", "search", "xyzzy"])).code).toBe(1);
  });

  test("show prints a page or a table, and suggests similar names", async () => {
    expect((await machine.run(["context", "show", "refunds"])).stdout).toContain("Within 30 days");
    expect((await machine.run(["context", "show", "orders"])).stdout).toContain("| customer_id |");
    const { code, stderr } = await machine.run(["context", "show", "ordres"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("Did you mean orders?")]);
  });

  test("graph shows joins as text and as a diagram", async () => {
    expect((await machine.run(["context", "graph", "customers"])).stdout).toContain("shop/main.orders (customer_id)");
    expect(await json("context", "graph")).toMatchObject({ value: { edges: [{ to: "shop/main.customers" }] } });
    expect((await machine.run(["context", "graph", "--mermaid"])).stdout).toContain(
      '"main.orders" }o--|| "main.customers" : "customer_id"',
    );
  });

  test("status counts entries, and fails if files cannot be read", async () => {
    expect(await json("context", "status")).toMatchObject({
      code: 0,
      value: { tables: 2, pages: 1, connections: [{ name: "shop", tables: 2 }], problems: [] },
    });
    const broken = machine.folder.join("project", "context", "catalogue", "shop", "main.broken.yaml");
    await writeFile(broken, "connection: [\n");
    const { code, stdout } = await machine.run(["context", "status"]);
    expect([code, stdout]).toEqual([1, expect.stringContaining("main.broken.yaml")]);
  });

  test("scrub prints what it would remove, and removes nothing without --yes", async () => {
    const file = machine.folder.join("project", "context", "catalogue", "shop", "main.customers.yaml");
    const before = await readFile(file, "utf8");
    const { code, stdout } = await machine.run(["context", "scrub", "--all", "--history"]);
    expect([code, stdout]).toEqual([0, expect.stringContaining("catalogue/shop/main.customers.yaml: id, name, city")]);
    expect(stdout).toMatch(/history +\d+ of \d+ commits/);
    expect(stdout).toContain("Nothing was changed.");
    expect(await readFile(file, "utf8")).toBe(before);
  });

  test("creates no folder without knowledge", async () => {
    await using empty = await scratchMachine("llm: {}\n");
    const { code, stderr } = await empty.run(["context", "status"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("has no connections and no sources")]);
    expect(existsSync(empty.folder.join("project", "context"))).toBe(false);
  });
});

describe("tandem sql", () => {
  test("prints a table, JSON or CSV", async () => {
    const query = "select id, note from orders order by id";
    const { stdout } = await machine.run(["sql", "shop", query]);
    expect(stdout.split("\n")).toEqual(["id  note", "1   by post", "2   null", '3   by, "bike"', "3 rows", ""]);
    expect((await json("sql", "shop", query)).value).toEqual({
      columns: ["id", "note"],
      rows: [
        [1, "by post"],
        [2, null],
        [3, 'by, "bike"'],
      ],
      truncated: false,
      verdict: { verdict: "proven", parts: [] },
    });
    const csv = await machine.run(["context", "sql", "shop", "--csv"], { stdin: query });
    expect(csv.stdout).toBe('id,note\r\n1,by post\r\n2,\r\n3,"by, ""bike"""\r\n');
  });

  test("judges the numbers, offers a statement that is right, and audits both", async () => {
    const query = "select sum(c.id) as total from customers c join orders o on o.customer_id = c.id";
    const { code, stderr } = await machine.run(["sql", "shop", query]);
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/inflated: .* 1\.25 times too large[\s\S]*SELECT DISTINCT/),
    ]);
    const shown: unknown = (await json("sql", "shop", query)).value;
    const { rewrite } = (shown as { verdict: { rewrite: string } }).verdict;
    expect((await json("sql", "shop", rewrite)).value).toMatchObject({ rows: [[4]], verdict: { verdict: "proven" } });
    const { value } = await json("audit", "list", "--verdict", "inflated");
    expect(value).toMatchObject({ entries: [{ kind: "sql.run", details: { sql: query } }, { kind: "sql.run" }] });
    expect((await machine.run(["audit", "list", "--verdict", "inflated"])).stdout).toContain(
      "inflated shop select sum",
    );
  });

  test("checks a file without running it", async () => {
    const file = machine.folder.join("project", "report.sql");
    await writeFile(file, "select sum(c.id) from customers c join orders o on o.customer_id = c.id");
    expect(await json("sql", "check", "report.sql")).toMatchObject({ code: 1, value: { verdict: "can_inflate" } });
    await writeFile(file, "select count(*) from orders");
    const { code, stdout } = await machine.run(["sql", "check", "report.sql"]);
    expect([code, stdout]).toEqual([0, "proven: No aggregate counts a row twice.\n"]);
    await writeFile(file, "select count(*) from orders group by nothing");
    expect((await machine.run(["sql", "check", "report.sql"])).stderr).toContain("nothing");
  });

  test("stops at the row limit and says so", async () => {
    const { code, stdout, stderr } = await machine.run([
      "context",
      "sql",
      "shop",
      "--max-rows",
      "1",
      "select id from orders",
    ]);
    expect([code, stdout, stderr]).toEqual([
      0,
      "id\n1\n1 row\n",
      expect.stringContaining("Only the first 1 rows are shown"),
    ]);
  });

  test("estimates a query without running it", async () => {
    expect((await machine.run(["context", "sql", "shop", "--estimate", "select * from orders"])).stdout).toMatch(
      /SCAN orders/,
    );
  });

  test("cannot write, and reports errors", async () => {
    for (const query of ["delete from orders", "select 1; drop table orders", "attach 'x.db' as x"]) {
      const { code, stderr } = await machine.run(["context", "sql", "shop", query]);
      expect([query, code]).toEqual([query, 2]);
      expect(stderr).not.toBe("");
    }
    expect((await machine.run(["context", "sql", "shoop", "select 1"])).stderr).toContain("Did you mean shop?");
    expect((await json("sql", "shop", "select count(*) n from orders")).value).toMatchObject({ rows: [[3]] });
  });
});

describe("tandem context jobs", () => {
  test("lists, shows and follows a finished scan, and does not cancel it", async () => {
    const { value } = await json("jobs", "list", "--kind", "scan");
    expect(value).toMatchObject({ jobs: [{ kind: "scan", state: "done", params: { connection: "shop" } }] });
    expect((await machine.run(["context", "jobs", "show", "last"])).stdout).toContain("connection=shop");
    const followed = await machine.run(["context", "jobs", "follow", "last"]);
    expect([followed.code, followed.stderr]).toEqual([0, expect.stringContaining("scan: ")]);
    const { code, stderr } = await machine.run(["context", "jobs", "cancel", "last"]);
    expect([code, stderr]).toEqual([1, expect.stringContaining("has ended already")]);
    expect((await machine.run(["context", "jobs", "show", "job_none"])).code).toBe(2);
  });
});

test("tandem context joins accepts a connection's name", async () => {
  const { code, stdout } = await machine.run(["context", "joins", "shop", "--json"]);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject([{ from: { table: "orders" }, to: { table: "customers" } }]);
});
