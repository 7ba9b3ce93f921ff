import {
  always,
  type ModelRequest,
  object,
  planLimit,
  startRehearsal,
  type Rehearsal,
  type Reply,
  type Script,
} from "@tandem/rehearsal";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { scratchMachine } from "../../testing/run-tandem.ts";
import { openUp } from "../../testing/session-machine.ts";

const env = { ANTHROPIC_API_KEY: "sk-ant-api03-made-up" };
const CONNECTIONS = "connections: { shop: { driver: sqlite, path: shop.sqlite } }";

async function shop(rehearsal?: Rehearsal, connections = CONNECTIONS) {
  const llm = rehearsal
    ? `llm: { provider: { backend: anthropic, anthropic: { baseUrl: "${rehearsal.url}" } }, limits: { patience: 0s } }\n`
    : "";
  const machine = await scratchMachine(`${llm}${connections}\n`);
  const database = new DatabaseSync(machine.folder.join("project", "shop.sqlite"));
  database.exec(`
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT);
    CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customers(id), note TEXT);
    INSERT INTO customers VALUES (1, 'Ada'), (2, 'Grace'), (3, 'Edsger');
    INSERT INTO orders VALUES (1, 1, 'by post'), (2, 1, NULL), (3, 3, 'by bike');
  `);
  database.close();
  await machine.trust();
  const catalogue = (table: string) =>
    readFile(machine.folder.join("project", "context", "catalogue", "shop", `main.${table}.yaml`), "utf8");
  return { machine, catalogue };
}

/** Describes any table and suggests no joins. */
async function answer(request: ModelRequest): Promise<Reply> {
  const [, lines = ""] = /<tables>\n(.*)\n<\/tables>/s.exec(request.lastUserText) ?? [];
  const tables = lines
    .split("\n")
    .map((line) => JSON.parse(line) as { schema: string; table: string; columns: { name: string }[] });
  const described = tables.map(({ schema, table, columns }) => ({
    schema,
    table,
    description: `Rows of ${table}.`,
    columns: columns.map(({ name }) => ({ name, description: `Its ${name}.` })),
  }));
  const value = request.lastUserText.startsWith("Describe") ? { tables: described } : { joins: [] };
  const rule = object(value);
  return typeof rule.answer === "function" ? rule.answer(request) : rule.answer;
}
const script: Script = [always(answer)];

describe("tandem context scan with a running server", () => {
  test("runs in the server with the server's secrets, and names a secret that only the caller has", async () => {
    await using rehearsal = await startRehearsal(script);
    const { machine, catalogue } = await shop(rehearsal);
    await using _ = machine;
    const up = (variables: Record<string, string>) =>
      openUp(machine.open(["up", "--json", "--port", "0"], { env: variables }));
    {
      await using _server = await up({});
      const { stdout } = await machine.run(["context", "scan", "--json"], { env });
      const { error } = JSON.parse(stdout).scans[0];
      expect(error.fix).toContain("its environment has no ANTHROPIC_API_KEY");
    }
    await using server = await up(env);
    const { code, stdout, stderr } = await machine.run(["context", "scan", "--json"]);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(JSON.parse(stdout).scans[0]).toMatchObject({ state: "done" });
    expect(await catalogue("orders")).toContain("Rows of orders.");
    await server.stop();
  });
});

describe("tandem context scan", () => {
  test("prints progress lines and a summary; a second run calls no model", async () => {
    await using rehearsal = await startRehearsal(script);
    const { machine, catalogue } = await shop(rehearsal);
    await using _ = machine;
    const first = await machine.run(["context", "scan"], { env });
    expect(first.code).toBe(0);
    expect(first.stderr.split("\n")).toEqual([
      "shop: structure: 2 tables",
      "shop: profile: 2 tables",
      "shop: descriptions: 2 described",
      expect.stringContaining("shop: relationships: 1 accepted"),
      expect.stringMatching(/^shop: proposal: \d+ accepted$/),
      "",
    ]);
    expect(first.stdout).toMatch(/^done shop in/);
    expect(first.stdout).toContain("2 seen: 2 new");
    expect(first.stdout).toContain("2 described");
    expect(first.stdout).toMatch(/spent +2 requests, \$/);
    expect(first.stdout).toContain("changes accepted by rule");
    expect(await catalogue("orders")).toContain("ai: Rows of orders.");
    const asked = rehearsal.modelRequests.length;

    const again = await machine.run(["context", "scan", "shop", "--json"], { env });
    expect(again.code).toBe(0);
    expect(rehearsal.modelRequests).toHaveLength(asked);
    expect(JSON.parse(again.stdout)).toEqual({
      scans: [
        {
          connection: "shop",
          job: expect.stringMatching(/^job_/),
          state: "done",
          tables: { seen: 2, added: 0, changed: 0, gone: 0 },
          descriptions: { described: 0, cached: 0, incomplete: 0, unknown: 0 },
          joins: { accepted: 1, review: 0 },
          privacy: { personal: [], configured: 0, unmatchedPatterns: [] },
          brokenMetrics: [],
          proposals: [],
          skipped: [],
          spent: { requests: 0, cached: expect.any(Number), usd: 0 },
        },
      ],
    });
  });

  test("--no-descriptions requests no descriptions", async () => {
    await using rehearsal = await startRehearsal(script);
    const { machine, catalogue } = await shop(rehearsal);
    await using _ = machine;
    expect((await machine.run(["context", "scan", "--no-descriptions"], { env })).code).toBe(0);
    expect(rehearsal.modelRequests.filter(({ lastUserText }) => lastUserText.startsWith("Describe"))).toEqual([]);
    expect(await catalogue("orders")).not.toContain("ai:");
  });

  test("lists skipped tables with the reason and exits with an error", async () => {
    await using rehearsal = await startRehearsal([always(planLimit())]);
    const { machine, catalogue } = await shop(rehearsal);
    await using _ = machine;
    const { code, stdout, stderr } = await machine.run(["context", "scan"], { env });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^partly shop/);
    expect(stdout).toMatch(/main\.orders \(descriptions\): .*limit/i);
    expect(stderr).toContain("shop: descriptions: skipped main.customers");
    expect(await catalogue("orders")).toContain("primaryKey");
  });

  test("--dry-run shows reads, requests and cost, and creates nothing", async () => {
    await using rehearsal = await startRehearsal([]);
    const { machine } = await shop(rehearsal);
    await using _ = machine;
    const { code, stdout } = await machine.run(["context", "scan", "--dry-run"], { env });
    expect(code).toBe(0);
    expect(stdout).toContain("2 tables");
    expect(stdout).toContain("2 requests at most: 2 tables to describe");
    expect(stdout).toMatch(/about \$0\.\d+ at list price/);
    expect(rehearsal.requests).toHaveLength(0);
    expect(existsSync(machine.folder.join("project", "context"))).toBe(false);
    const { stdout: json } = await machine.run(["context", "scan", "--dry-run", "--json"], { env });
    expect(JSON.parse(json)).toMatchObject({ plans: [{ connection: "shop", tables: 2, toDescribe: 2 }] });
    // An unrelated folder of that name is not a context and does not become one.
    await mkdir(machine.folder.join("project", "context"));
    expect(await machine.run(["context", "scan", "--dry-run"], { env })).toMatchObject({ code: 0 });
    expect(await readdir(machine.folder.join("project", "context"))).toEqual([]);
  });

  test("--dry-run opens no connection of an untrusted config", async () => {
    await using machine = await scratchMachine(`context: { folder: ../elsewhere }\n${CONNECTIONS}\n`);
    const elsewhere = machine.folder.join("elsewhere");
    await mkdir(elsewhere);
    await writeFile(machine.folder.join("elsewhere", "context.yaml"), "version: 1\nid: ctx_made_up\n");
    const { code, stderr } = await machine.run(["context", "scan", "--dry-run"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("tandem trust") });
    expect(await readdir(elsewhere)).toEqual(["context.yaml"]);
  });

  test("--all continues after a missing database; without a model it says so in one line", async () => {
    const { machine, catalogue } = await shop(
      undefined,
      "connections:\n  gone: { driver: sqlite, path: gone.sqlite }\n  shop: { driver: sqlite, path: shop.sqlite }",
    );
    await using _ = machine;
    const { code, stdout } = await machine.run(["context", "scan", "--all"]);
    expect(code).toBe(5);
    expect(stdout).toMatch(/^failed gone/);
    expect(stdout).toMatch(/^done shop/m);
    expect(stdout).toContain("No model is set up");
    expect(await catalogue("orders")).toContain("to: main.customers");
    const unnamed = await machine.run(["context", "scan"]);
    expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining("gone, shop") });
  });

  test("Ctrl-C keeps the finished part, and the next scan resumes", async () => {
    const stalled = Promise.withResolvers<void>();
    await using rehearsal = await startRehearsal([
      always(async (request) => {
        if (request.lastUserText.startsWith("Describe")) return answer(request);
        stalled.resolve();
        return { type: "stall" as const };
      }),
    ]);
    const { machine } = await shop(rehearsal);
    await using _ = machine;
    const scanning = machine.open(["context", "scan"], { env });
    await stalled.promise;
    const { code, stderr } = await scanning.stop();
    expect(code).toBe(130);
    expect(stderr).toContain("Start it again: it continues from here.");
    expect((await machine.run(["context", "jobs", "list"])).stdout).toContain("interrupted");
    const followed = await machine.run(["context", "jobs", "follow", "last"]);
    expect(followed).toMatchObject({ code: 1, stderr: expect.stringContaining("tandem context jobs cancel job_") });
    rehearsal.use(script);
    const resumed = await machine.run(["context", "scan", "--json"], { env });
    expect(JSON.parse(resumed.stdout)).toMatchObject({
      scans: [{ state: "done", descriptions: { described: 0, cached: 2 }, spent: { requests: 1 } }],
    });
  });
});
