import { always, object, startRehearsal } from "@tandem/rehearsal";
import { startPostgres, whyNoPostgres } from "@tandem/storage/testing";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";
import { openUp } from "../../testing/session-machine.ts";

const missing = whyNoPostgres();

test.skipIf(missing)(
  `a caller without the database's secret scans and remembers in the running server${missing ? ` (${missing})` : ""}`,
  async () => {
    await using rehearsal = await startRehearsal([
      always(object({ joins: [], contradicts: [{ id: "m1", why: "Other days." }] })),
    ]);
    await using postgres = await startPostgres();
    const provider = `backend: anthropic, anthropic: { apiKey: "env:KEY", baseUrl: "${rehearsal.url}" }`;
    await using machine = await scratchMachine(
      `llm: { provider: { ${provider} } }\nstorage: { url: "env:TEST_DATABASE" }\nconnections: { shop: { driver: sqlite, path: shop.sqlite } }\n`,
    );
    const database = new DatabaseSync(machine.folder.join("project", "shop.sqlite"));
    database.exec(
      "CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT); INSERT INTO customers VALUES (1, 'Ada')",
    );
    database.close();
    await machine.trust();
    const env = { KEY: "made-up", TEST_DATABASE: await postgres.createDatabase() };

    const before = await machine.run(["context", "scan", "--no-descriptions"]);
    expect(before).toMatchObject({ code: 3, stderr: expect.stringContaining("TEST_DATABASE") });

    await using server = await openUp(machine.open(["up", "--json", "--port", "0"], { env }));
    const scanned = await machine.run(["context", "scan", "--no-descriptions"]);
    expect(scanned).toMatchObject({ code: 0, stdout: expect.stringMatching(/^done shop in/) });
    expect(scanned.stderr.split("\n")).toEqual([
      "shop: structure: 1 table",
      "shop: profile: 1 table",
      expect.stringContaining("shop: relationships"),
      expect.stringMatching(/^shop: proposal: \d+ accepted$/),
      "",
    ]);

    const first = await machine.run(["context", "remember", "Refunds take 30 days.", "--tag", "finance"]);
    expect(first).toMatchObject({ code: 0, stderr: "" });
    expect(first.stdout).toMatch(
      /^Saved\. Undo: tandem context proposals undo prop_\w+\nmem_\w+  project, .* #finance\n/,
    );
    const again = await machine.run(["context", "remember", "refunds take 30 days.", "--json"]);
    expect(JSON.parse(again.stdout)).toMatchObject({ known: true, proposal: null, memory: { tags: ["finance"] } });
    const other = await machine.run(["context", "remember", "Refunds take 14 days.", "--json"]);
    expect(JSON.parse(other.stdout)).toMatchObject({
      known: false,
      contradicts: [{ text: "Refunds take 30 days." }],
      unchecked: null,
    });
    const asked = rehearsal.modelRequests.length;
    const unchecked = await machine.run(["context", "remember", "Refunds take 7 days.", "--no-check"]);
    expect(unchecked).toMatchObject({ code: 0, stdout: expect.not.stringContaining("Contradict") });
    expect(rehearsal.modelRequests).toHaveLength(asked);
    await server.stop();
  },
);
