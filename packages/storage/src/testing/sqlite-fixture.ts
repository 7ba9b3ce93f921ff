import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { StoreFixture } from "../contract/stage.ts";

export function sqliteFixture(): StoreFixture {
  const folder = mkdtempSync(join(tmpdir(), "tandem-sqlite-"));
  let count = 0;
  const open = (file: string): DatabaseSync => new DatabaseSync(file, { timeout: 5_000 });
  return {
    name: "sqlite",
    location: () => {
      count += 1;
      return Promise.resolve(join(folder, `${count}.db`));
    },
    dump: (file) => {
      using database = open(file);
      const tables = database.prepare("select name from sqlite_schema where type = 'table' order by name").all();
      return Promise.resolve(
        JSON.stringify(
          tables.map(({ name }) => database.prepare(`select * from "${String(name)}"`).all()),
          (_, value: unknown) => (value instanceof Uint8Array ? Buffer.from(value).toString("latin1") : value),
        ),
      );
    },
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
