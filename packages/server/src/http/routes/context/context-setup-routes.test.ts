import type { ConnectionTest } from "@tandem/protocol";
import type { Engine } from "@tandem/sessions";
import { expect, test } from "vitest";
import { startTestServer } from "../../../testing/start-test-server.ts";

const works: ConnectionTest = {
  version: "PostgreSQL 17.2",
  tables: 3,
  views: 0,
  account_can_write: false,
  milliseconds: 5,
};

test("only an administrator adds a database, no program is named as its secret, and the audit names who did", async () => {
  const noted: unknown[] = [];
  const engine = { audit: { note: async (entry: unknown) => void noted.push(entry) } } as unknown as Engine;
  const file = "/srv/shop/tandem.yaml";
  const nothing = { documents: 1, bytes: 9, skipped: [], skipped_count: 0, milliseconds: 1 };
  await using server = await startTestServer({
    engine,
    setup: {
      testConnection: async () => works,
      addConnection: async ({ name }) => ({ name, file, test: works }),
      testSource: async () => nothing,
      addSource: async ({ name }) => ({ name, file, test: nothing }),
    },
  });
  const post = async (path: string, body: object, secret = server.secret) =>
    server.request(path, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
      body: JSON.stringify(body),
    });
  const place = { driver: "postgres", url: "postgres://reader@db.example/shop", password: "env:SHOP_PASSWORD" };
  expect((await post("/v1/context/connections/test", place, await server.secretFor("run"))).status).toBe(403);
  expect(await (await post("/v1/context/connections/test", place)).json()).toEqual(works);
  for (const password of ["command:cat /etc/shadow", "hunter2"]) {
    const refused = await post("/v1/context/connections", { name: "shop", ...place, password });
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("env:NAME or file:path")]);
  }
  expect((await post("/v1/context/connections", { name: "shop", ...place, url: "command:ls" })).status).toBe(400);
  expect(await (await post("/v1/context/connections", { name: "shop", ...place })).json()).toMatchObject({ file });
  expect((await post("/v1/context/sources", { name: "docs", type: "dbt", path: "docs" })).status).toBe(200);
  expect(noted).toMatchObject([
    { kind: "connection.added", details: { name: "shop", driver: "postgres", file } },
    { kind: "source.added", details: { name: "docs", type: "dbt", path: "docs", file } },
  ]);
});
