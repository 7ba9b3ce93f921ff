import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DuckDBInstance } from "@duckdb/node-api";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until } from "./contract/until.ts";
import type { SkippedTable } from "./connection.ts";
import { openConnection } from "./open-connection.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tandem-files-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.each(["sqlite", "duckdb"] as const)("a file of %s", (driver) => {
  it.each([
    ["a missing file", "nowhere.db", /^There is no file .*nowhere\.db\.$/],
    ["a folder", ".", /is not a file\.$/],
    ["a foreign file", "note.txt", /is not a (SQLite|DuckDB) database\.$/],
  ])("reports %s in one sentence", async (_, name, message) => {
    writeFileSync(join(folder, "note.txt"), "Dear diary, this is not a database at all. ".repeat(50));
    const opened = openConnection({ driver, path: join(folder, name) });
    await expect(opened).rejects.toMatchObject({
      name: "ConnectionError",
      code: "connection_failed",
      message: expect.stringMatching(message),
      fix: expect.stringMatching(/\.$/),
    });
  });
});

describe("SQLite", () => {
  it("reads full-text tables with ranks", async () => {
    const path = join(folder, "notes.db");
    using database = new DatabaseSync(path);
    database.exec(`
      create virtual table notes using fts5(body);
      insert into notes values ('refunds take long'), ('deliveries');`);
    await using connection = await openConnection({ driver: "sqlite", path });
    expect((await connection.query("select count(*) from notes")).rows).toEqual([[2]]);
    const found = "select highlight(notes, 0, '[', ']') from notes where notes match 'refunds' order by bm25(notes)";
    expect((await connection.query(found)).rows).toEqual([["[refunds] take long"]]);
    await expect(connection.query("insert into notes (notes) values ('optimize')")).rejects.toMatchObject({
      code: "query_refused",
    });
  });

  it("reads R-Trees without writing", async () => {
    const path = join(folder, "places.db");
    using database = new DatabaseSync(path);
    database.exec(`
      create virtual table boxes using rtree(id, minX, maxX, +name text);
      insert into boxes values (1, 0, 10, 'a'), (2, 20, 30, 'b');`);
    await using connection = await openConnection({ driver: "sqlite", path });
    const skipped: SkippedTable[] = [];
    expect(await connection.structure({ onSkipped: (item) => skipped.push(item) })).toMatchObject([
      { name: "boxes", columns: [{ name: "id" }, { name: "minX" }, { name: "maxX" }, { name: "name" }] },
    ]);
    expect(skipped).toEqual([]);
    const within = "select id, name from boxes where minX >= 15";
    expect((await connection.query(within)).rows).toEqual([[2, "b"]]);
    // By now the file has been replaced.
    database.exec("insert into boxes values (3, 40, 50, 'c')");
    expect((await connection.query(within)).rows).toEqual([
      [2, "b"],
      [3, "c"],
    ]);
    for (const sql of [
      "insert into boxes values (9, 0, 1, 'x')",
      "delete from boxes",
      "update boxes_node set data = x''",
    ]) {
      await expect(connection.query(sql), sql).rejects.toMatchObject({ code: "query_refused" });
    }
    expect(database.prepare("select count(*) as n from boxes").get()).toEqual({ n: 3 });
  });

  it("reads every kind of SQLite schema", async () => {
    const path = join(folder, "odd.db");
    using database = new DatabaseSync(path, { enableForeignKeyConstraints: false });
    database.exec(`
      create table Parents (a text, b integer, primary key (b, a)) without rowid;
      create table plain (id integer primary key, anything, made integer generated always as (id * 2), other as (id) stored);
      create table children (x integer, y text, z references PLAIN, foreign key (X, Y) references parents);
      create table orphans (a references nowhere, b references plain (absent));
      create virtual table notes using fts5(title, body);
      create view broken as select * from gone;
      create table "sqlite like" (a);
      insert into plain (id) values (1), (2);
      analyze;`);
    await using connection = await openConnection({ driver: "sqlite", path });
    const skipped: SkippedTable[] = [];
    const structure = await connection.structure({ onSkipped: (item) => skipped.push(item) });
    const tables = Object.fromEntries(structure.map((table) => [table.name, table]));
    expect(skipped).toEqual([{ schema: "main", name: "broken", reason: expect.stringContaining("main.gone") }]);
    expect(Object.keys(tables).sort()).toEqual(["Parents", "children", "notes", "orphans", "plain", "sqlite like"]);
    expect(tables["Parents"]).toMatchObject({
      primaryKey: ["b", "a"],
      columns: [
        { name: "a", nullable: false },
        { name: "b", nullable: false },
      ],
    });
    expect(tables["plain"]).toMatchObject({
      estimatedRows: 2,
      columns: [
        { name: "id", nullable: false },
        { name: "anything", type: "", kind: "other" },
        { name: "made" },
        { name: "other" },
      ],
    });
    expect(tables["children"]!.foreignKeys).toEqual([
      { columns: ["z"], to: { schema: "main", name: "plain" }, toColumns: ["id"] },
      { columns: ["x", "y"], to: { schema: "main", name: "Parents" }, toColumns: ["b", "a"] },
    ]);
    expect(tables["orphans"]!.foreignKeys).toEqual([]);
    expect(tables["notes"]!.columns.map(({ name }) => name)).toEqual(["title", "body"]);
  });

  it("reads beside a writer with a WAL, sees its commits, and leaves no files behind", async () => {
    const own = join(folder, "log");
    mkdirSync(own);
    const path = join(own, "log.db");
    const count = async (): Promise<unknown> => (await connection.query("select count(*) from t")).rows[0]![0];
    {
      using database = new DatabaseSync(path);
      database.exec("pragma journal_mode = wal; create table t (a); insert into t values (1)");
    }
    await using connection = await openConnection({ driver: "sqlite", path });
    expect(await count()).toBe(1);
    expect(readdirSync(own)).toEqual(["log.db"]);
    {
      using database = new DatabaseSync(path);
      database.exec("insert into t values (2)");
      expect(await count()).toBe(2);
      database.exec("begin immediate; insert into t values (3)");
      expect(await count()).toBe(2);
      database.exec("commit");
      expect(await count()).toBe(3);
    }
    {
      using database = new DatabaseSync(path);
      database.exec("insert into t values (4)");
    }
    expect(await count()).toBe(4);
  });

  it("reads a file with a WAL from a read-only folder", async () => {
    const own = join(folder, "sealed");
    mkdirSync(own);
    const path = join(own, "sealed.db");
    {
      using database = new DatabaseSync(path);
      database.exec("pragma journal_mode = wal; create table t (a); insert into t values (1)");
    }
    chmodSync(own, 0o555);
    await using connection = await openConnection({ driver: "sqlite", path });
    expect((await connection.query("select * from t")).rows).toEqual([[1]]);
    expect(readdirSync(own)).toEqual(["sealed.db"]);
    chmodSync(own, 0o755);
  });

  it("reads the new file after it was replaced", async () => {
    const path = join(folder, "replaced.db");
    for (const name of ["replaced.db", "next.db"]) {
      using database = new DatabaseSync(join(folder, name));
      database.exec(`create table t (a); insert into t values ('${name}')`);
    }
    await using connection = await openConnection({ driver: "sqlite", path });
    expect((await connection.query("select a from t")).rows).toEqual([["replaced.db"]]);
    execFileSync("mv", [join(folder, "next.db"), path]);
    expect((await connection.query("select a from t")).rows).toEqual([["next.db"]]);
  });

  it("aborts a query when its owner process is killed", async () => {
    const path = join(folder, "killed.db");
    new DatabaseSync(path).close();
    const script = join(folder, "asks.ts");
    const entry = JSON.stringify(new URL("./open-connection.ts", import.meta.url).href);
    writeFileSync(
      script,
      `import { openConnection } from ${entry};
       const connection = await openConnection({ driver: "sqlite", path: ${JSON.stringify(path)} });
       void connection.query("with recursive n (i) as (select 1 union all select i + 1 from n) select count(*) from n");
       console.log("asked");`,
    );
    const asker = spawn(process.execPath, [script], { env: {}, stdio: ["ignore", "pipe", "inherit"] });
    await once(asker.stdout, "data");
    const readers = (): string[] =>
      execFileSync("ps", ["-eo", "pid,args"], { encoding: "utf8" })
        .split("\n")
        .filter((line) => line.includes("sqlite-child.ts") && line.includes(path));
    expect(readers()).toHaveLength(1);
    const ended = once(asker, "exit");
    asker.kill("SIGKILL");
    await ended;
    await until(() => (readers().length === 0 ? true : undefined));
  });
});

describe("DuckDB", () => {
  it("reports that another process has the file open for writing, and releases it when idle", async () => {
    const path = join(folder, "shared.duckdb");
    const write = async (sql: string): Promise<DuckDBInstance> => {
      const instance = await DuckDBInstance.create(path);
      const connection = await instance.connect();
      await connection.run(sql);
      connection.disconnectSync();
      return instance;
    };
    const writer = await write("create table t (a int)");
    await expect(openConnection({ driver: "duckdb", path })).rejects.toMatchObject({
      code: "connection_failed",
      message: expect.stringContaining("open for writing in another process"),
    });
    writer.closeSync();
    await using connection = await until(() => openConnection({ driver: "duckdb", path }).catch(() => undefined));
    expect((await connection.query("select count(*) from t")).rows).toEqual([[0]]);
    const again = await until(() => write("insert into t values (1)").catch(() => undefined));
    again.closeSync();
    expect((await until(() => connection.query("select count(*) from t").catch(() => undefined))).rows).toEqual([[1]]);
  });
});
