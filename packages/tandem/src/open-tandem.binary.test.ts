import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startPostgres, whyNoPostgres, type TestPostgres } from "@tandem/storage/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openTandem } from "./open-tandem.ts";

const missing = whyNoPostgres();

describe.skipIf(missing)(`a worker on Postgres${missing ? ` (skipped: ${missing})` : ""}`, () => {
  const parts = new AsyncDisposableStack();
  let postgres: TestPostgres;
  let folder: string;

  beforeAll(async () => {
    postgres = parts.use(await startPostgres());
    folder = await mkdtemp(join(tmpdir(), "tandem-worker-"));
    parts.defer(() => rm(folder, { recursive: true, force: true }));
  });
  afterAll(() => parts.disposeAsync());

  const open = (database: string, lines: string[] = []) =>
    openTandem({
      project: folder,
      port: 0,
      fleet: { as: "server" },
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        CLAUDE_CONFIG_DIR: join(folder, "claude"),
        TANDEM_HOME: join(folder, "home"),
        DATABASE_URL: database,
      },
      log: (line) => lines.push(line),
    });

  test("waits for a database that is down, says so, and starts when it is back", async () => {
    const database = await postgres.createDatabase();
    await postgres.kill();
    const lines: string[] = [];
    const opening = open(database, lines);
    await expect.poll(() => lines.join("")).toContain("Postgres does not answer; waiting for it");
    await postgres.start();
    await using tandem = await opening;
    expect((await fetch(`${tandem.url}/readyz`)).status).toBe(204);
  });

  test("does not wait for a database that does not exist", async () => {
    const database = (await postgres.createDatabase()).replace("/test_", "/no_such_");
    await expect(open(database)).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("does not exist"),
      fix: expect.stringContaining("DATABASE_URL"),
    });
  });
});
