import { mkdir, readFile, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { loadProject } from "../config/load-project.ts";
import { projectAt } from "../config/find-project.ts";
import { trustFolder } from "../config/trust.ts";
import type { Host } from "../config/host.ts";
import { testFolder } from "../testing/test-folder.ts";
import { projectContextSetup } from "./project-context-setup.ts";

const { signal } = new AbortController();

async function openStage() {
  const folder = await testFolder();
  const env = { TANDEM_HOME: folder.join("home"), HOME: folder.path };
  await mkdir(folder.join("shop"));
  await mkdir(folder.join("shop/docs"));
  const file = folder.join("shop/tandem.yaml");
  await writeFile(file, "# Ours.\nscan:\n  sampleRows: 500 # enough\n");
  await writeFile(folder.join("shop/docs/refunds.md"), "# Refunds\n\nWithin 30 days.\n");
  const database = new DatabaseSync(folder.join("shop/shop.db"));
  database.exec("create table customers (id integer primary key); create view buyers as select id from customers");
  database.close();
  const live = await loadProject({ TANDEM_HOME: folder.path }, projectAt(folder.join("shop"), folder.path));
  await trustFolder(env, live.folder, live.settings);
  const host: Host = { env, version: "1.2.3", cwd: live.folder, signal, project: live.folder };
  let added = 0;
  const setup = projectContextSetup(host, live, async () => void (added += 1));
  return { setup, live, file, folder, added: () => added };
}

test("a database is tested, then saved beside the comments of the file, and is in use at once", async () => {
  const { setup, live, file, added, folder } = await openStage();
  await using _ = folder;
  const shop = { driver: "sqlite" as const, path: "shop.db" };
  expect(await setup.testConnection(shop, signal)).toMatchObject({
    version: expect.stringMatching(/^SQLite 3\./),
    tables: 1,
    views: 1,
    account_can_write: null,
  });
  expect(await readFile(file, "utf8")).not.toContain("shop.db");
  expect(await setup.addConnection({ name: "shop", ...shop }, signal)).toMatchObject({ name: "shop", file });
  expect(await readFile(file, "utf8")).toBe(
    "# Ours.\nscan:\n  sampleRows: 500 # enough\nconnections:\n  shop:\n    driver: sqlite\n    path: shop.db\n",
  );
  expect(live.config.connections).toEqual({ shop });
  expect(added()).toBe(1);
  await expect(setup.addConnection({ name: "shop", ...shop }, signal)).rejects.toMatchObject({ code: "conflict" });
  // The trust of the rest of the file still holds, so a second one can follow.
  expect(await setup.addSource({ name: "docs", type: "folder", path: "docs" }, signal)).toMatchObject({
    test: { documents: 1, skipped_count: 0 },
  });
  expect(live.config.ingest.sources).toMatchObject({ docs: { type: "folder", path: "docs" } });
});

test("nothing is saved that cannot be opened, holds a password, or is in a file that was changed by others", async () => {
  const { setup, file, added, folder } = await openStage();
  await using _ = folder;
  const before = await readFile(file, "utf8");
  const refused = (name: string, place: object, message: string) =>
    expect(setup.addConnection({ name, driver: "postgres", ...place }, signal)).rejects.toMatchObject({
      code: "invalid_request",
      message: expect.stringContaining(message),
    });
  await refused("a", { driver: "sqlite", path: "missing.db" }, "missing.db");
  await refused("b", { url: "postgres://me:secret@127.0.0.1:1/db" }, "without a password");
  await refused("c", { url: "postgres://me@127.0.0.1:1/db", password: "env:NO_SUCH" }, "NO_SUCH");
  await expect(setup.addSource({ name: "d", type: "folder", path: "nowhere" }, signal)).rejects.toMatchObject({
    code: "invalid_request",
  });
  expect(await readFile(file, "utf8")).toBe(before);
  await writeFile(file, `${before}sessions:\n  roots: [/]\n`);
  await refused("e", { driver: "sqlite", path: "shop.db" }, "need your trust");
  expect(added()).toBe(0);
});
