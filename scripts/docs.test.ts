import { existsSync, globSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { ExampleReader } from "../docs/examples/connector.ts";
import { anchorMaker } from "./docs-site/read-pages.ts";
import { guides, pages, readPage } from "./follow-docs/pages.ts";

// Its types are checked; it is not run, because it needs a login.
export type * from "../docs/examples/rivers.ts";

const root = join(import.meta.dirname, "..");

const withoutCode = (page: string): string => page.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");

function anchorsOf(page: string): string[] {
  const anchorOf = anchorMaker();
  const headings = page.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading]) => anchorOf(heading!));
}

/** Words and sentences of a private dialect that readers had to decode. Standard terms say the same. */
const DIALECT = [
  /\b(nobody|somebody|anybody|whoever|whom|anew|to and fro)\b/gi,
  /\b(mends?|mended|goes on with|stands in|stood for|that is up|passes? over|led astray)\b/gi,
  /\b(rehearsed agent|prepared words|what waits|waits for you|who pays for|is made again|were kept)\b/gi,
  /\b(Asks first|May edit files|Plans only|May do all|Ask nothing|As the system|Effect unknown)\b/g,
  // A sentence whose subject is a relative clause.
  /(?:^|[.:] )(?:Whatever|Who|What) (?:is|was|has|had|comes|came|runs|ran|stands|waits|the agent)\b[^?\n]*$/gm,
];

describe("docs", () => {
  test("every relative link resolves", () => {
    const links = pages.flatMap((page) =>
      [...withoutCode(readPage(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => ({ page, target: target! })),
    );
    const broken = links.filter(({ page, target }) => {
      if (/^https?:/.test(target)) return false;
      const [path, anchor] = target.split("#") as [string, string?];
      const file = path ? join(dirname(page), path) : page;
      return !existsSync(join(root, file)) || (anchor !== undefined && !anchorsOf(readPage(file)).includes(anchor));
    });
    expect(links.length).toBeGreaterThan(50);
    expect(broken.map(({ page, target }) => `${page}: ${target}`)).toEqual([]);
  });

  test("every page of docs/ is in its index", () => {
    const index = ["docs/README.md", "docs/decisions/README.md", "docs/reference/api.md"].map(readPage).join("\n");
    const missing = pages
      .filter((page) => page.startsWith("docs/") && !page.endsWith("README.md"))
      .filter((page) => !index.includes(`(${page.replace(/^docs\/(decisions\/|reference\/(?=api\/))?/, "")})`));
    expect(missing).toEqual([]);
  });

  test("examples in pages equal the files that they name", () => {
    const examples = [
      ...pages
        .map(readPage)
        .join("\n")
        .matchAll(/^<!-- (docs\/examples\/\S+) -->\n```(?:ts|python)\n([\s\S]*?)^```/gm),
    ];
    expect(new Set(examples.map(([, file]) => file))).toEqual(
      new Set(globSync("docs/examples/*", { cwd: root }).filter((file) => !file.endsWith("-script.ts"))),
    );
    for (const [, file, code] of examples) expect(code).toBe(readPage(file!));
  });

  test("pages use plain English", () => {
    const found = guides.flatMap((page) => {
      const text = withoutCode(readPage(page));
      return DIALECT.flatMap((pattern) => [...text.matchAll(pattern)].map(([words]) => `${page}: ${words.trim()}`));
    });
    expect(found).toEqual([]);
  });

  test("the example of a connector reads a database, with its limits, and cannot write", async () => {
    const { DatabaseSync } = await import("node:sqlite");
    const folder = mkdtempSync(join(tmpdir(), "tandem-connector-"));
    try {
      const file = join(folder, "shop.sqlite");
      using database = new DatabaseSync(file);
      database.exec(
        "create table orders (id integer primary key, total numeric not null); insert into orders values (1, 5), (2, 9007199254740993)",
      );
      using reader = new ExampleReader(file);
      const ask = (sql: string, maxRows = 10) => reader.query({ sql, parameters: [], maxRows, maxBytes: 10_000 });
      expect(ask("select count(*), max(total) from orders").rows).toEqual([[2, "9007199254740993"]]);
      expect(ask("select * from orders", 1)).toMatchObject({ rows: [[1, 5]], truncated: true });
      expect(reader.structure().tables).toMatchObject([
        { name: "orders", primaryKey: ["id"], columns: [{ name: "id" }, { name: "total", nullable: false }] },
      ]);
      for (const sql of [
        "delete from orders",
        "select 1; delete from orders",
        "attach 'x' as y",
        "pragma journal_mode = delete",
        "select load_extension('x')",
        "select * from sqlite_schema, pragma_table_info('orders')",
        "with x as (select 1) insert into orders select 3, 3",
        "vacuum into 'x'",
      ]) {
        expect(() => ask(sql), sql).toThrow(/refused|not valid/);
      }
      expect(ask("select count(*) from orders").rows).toEqual([[2]]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
