import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openConnection } from "../open-connection.ts";
import { inspectFile, openFile } from "../sqlite/sqlite-file.ts";
import { connectionContract } from "./connection.contract.ts";
import { SQLITE, SQLITE_SAMPLE } from "./sqlite-samples.ts";
import type { ConnectorFixture } from "./connector-stage.ts";

connectionContract("SQLite", async (): Promise<ConnectorFixture> => {
  const folder = mkdtempSync(join(tmpdir(), "tandem-sqlite-"));
  const path = join(folder, "shop.db");
  const execute = (statements: readonly string[]): void => {
    using database = new DatabaseSync(path);
    database.exec("begin");
    for (const statement of statements) database.exec(statement);
    database.exec("commit");
  };
  execute(SQLITE_SAMPLE);
  return {
    dialect: "sqlite",
    samples: SQLITE,
    open: () => openConnection({ driver: "sqlite", path }),
    execute: async (statements) => execute(statements),
    // Compares the file byte by byte, and that no other file appears.
    fingerprint: async () =>
      [createHash("sha256").update(readFileSync(path)).digest("hex"), ...readdirSync(folder)].join(),
    bypass: async (sql) => {
      using database = openFile(inspectFile(path));
      return database.prepare(sql).all();
    },
    [Symbol.asyncDispose]: async () => rmSync(folder, { recursive: true }),
  };
});
