import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StoreFixture } from "../contract/storage-stage.ts";
import { openStore } from "../open-store.ts";

export function sqliteFixture(): StoreFixture {
  const folder = mkdtempSync(join(tmpdir(), "tandem-sqlite-"));
  let count = 0;
  const open = (file: string): DatabaseSync => new DatabaseSync(file, { timeout: 5_000 });
  const dump = (file: string): string => {
    using database = open(file);
    const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all();
    const rows = tables.map(({ name }) => {
      const statement = database.prepare(`select * from "${String(name)}"`);
      // Rowids of the index exceed the safe integer range.
      statement.setReadBigInts(true);
      return statement.all();
    });
    const readable = (_: string, value: unknown): unknown => {
      if (typeof value === "bigint") return Number(value);
      return value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value;
    };
    return JSON.stringify(rows, readable);
  };
  return {
    name: "sqlite",
    location: () => {
      count += 1;
      return Promise.resolve(join(folder, `${count}.db`));
    },
    open: (file) => openStore(file),
    dump: (main) => Promise.resolve([main, ...tenantsOf(main)].map(dump).join("\n")),
    execute: (file, text) => {
      using database = open(file);
      database.exec(text);
      return Promise.resolve();
    },
    [Symbol.asyncDispose]: () => {
      rmSync(folder, { recursive: true, force: true });
      return Promise.resolve();
    },
  };
}

function tenantsOf(main: string): string[] {
  const folder = main.replace(/\.db$/, ".tenants");
  const files = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".db")) : [];
  return files.map((name) => join(folder, name));
}
