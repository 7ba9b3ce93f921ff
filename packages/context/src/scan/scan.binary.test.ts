import type { Connection } from "@tandem/connectors";
import { TandemError } from "@tandem/protocol";
import { always, planLimit, rateLimited, refusal, when } from "@tandem/rehearsal";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sharedStore } from "../testing/shared-store.ts";
import { askedTables, describeAll, isAboutDescriptions, isAboutJoins, nameJoins } from "./testing/scan-answers.ts";
import type { RehearsedBackend } from "./testing/rehearsed-backend.ts";
import { openScanStage, type ScanOutcome, type ScanStage } from "./testing/scan-stage.ts";
import { SHOP_SQL } from "./testing/shop-sql.ts";
import { withMethods } from "./testing/with-methods.ts";
import { sharedBackend } from "./testing/shared-backend.ts";

const backend = await sharedBackend();
const store = sharedStore();
const openStage = (sql: string, model?: RehearsedBackend, accept?: object) =>
  openScanStage(sql, model, accept, store());

const answers = [describeAll(), nameJoins()];

describe("a first scan", () => {
  let stage: ScanStage;
  let first: ScanOutcome;
  beforeAll(async () => {
    stage = await openStage(SHOP_SQL, backend);
    const end = (table: string, column: string) => ({ schema: "main", table, columns: [column] });
    first = await stage.scan({
      script: [
        describeAll(),
        nameJoins(
          { from: end("orders", "clerk"), to: end("staff", "id"), confidence: 0.9, why: "A clerk is staff." },
          { from: end("orders", "total"), to: end("staff", "id"), confidence: 0.9, why: "Made up." },
        ),
      ],
    });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("writes structure, profile, descriptions and joins to the catalogue by rule", async () => {
    const { state, result, requests, events } = first;
    expect(state).toBe("done");
    expect(result).toMatchObject({
      tables: { seen: 4, added: 4, changed: 0, gone: 0 },
      descriptions: { described: 4, cached: 0, incomplete: 0, unknown: 0 },
      proposals: [{ title: "Scan of shop", accepted: expect.any(Number) }],
    });
    // One for descriptions and one for joins.
    expect(requests).toBe(2);
    const orders = await stage.file("orders");
    expect(orders).toMatchObject({
      connection: "shop",
      primaryKey: ["id"],
      rows: 200,
      descriptions: { ai: "Rows of orders." },
    });
    expect(orders?.columns.map(({ descriptions }) => descriptions?.ai)).toEqual([
      "The id of orders.",
      "The customer_id of orders.",
      "The clerk of orders.",
      "The total of orders.",
    ]);
    expect(orders?.joins).toContainEqual(
      expect.objectContaining({ columns: ["customer_id"], to: "main.customers", toColumns: ["id"] }),
    );
    const hits = await stage.search.search({ text: "customer", kinds: ["table"], limit: 5 });
    expect(hits.map(({ key }) => key)).toContain("table:shop/main.customers");
    expect((await stage.file("lines"))?.joins).toContainEqual(
      expect.objectContaining({ columns: ["order_id"], to: "main.orders", origin: "declared" }),
    );
    const stages = events.flatMap((event) => (event.type === "stage_finished" ? [event.stage] : []));
    expect(stages).toEqual(["structure", "profile", "descriptions", "relationships", "proposal"]);
    expect(events.at(-2)).toMatchObject({ type: "spent", requests: 2 });
  });

  test("checks a suggested join in the data, and records its origin", async () => {
    const { result } = first;
    const orders = stage.path("orders");
    const [{ id } = { id: "" }] = result.proposals;
    const change = (await stage.context.proposals.get(id))?.changes.find(({ path }) => path === orders);
    const joins = change?.hunks.filter(({ newLines }) => newLines.some((line) => line.includes("toColumns"))) ?? [];
    const textOf = (hunks: typeof joins) => hunks.flatMap(({ newLines }) => newLines).join("\n");
    expect(textOf(joins)).toMatch(/columns: \[clerk\]\n +to: main.staff\n(.*\n)*? +origin: model/);
    expect(textOf(joins)).not.toContain("[total]");
    expect(change?.evidence).toContainEqual({ type: "model", model: backend.model, role: "candidateExtraction" });
  });

  test("a rule that accepts nothing leaves everything for review", async () => {
    await using stage = await openStage(SHOP_SQL, backend, {
      structure: "never",
      joins: "never",
      descriptions: "never",
    });
    const { result } = await stage.scan({ script: answers });
    expect(result.proposals).toMatchObject([{ accepted: 0 }]);
    expect(await stage.file("orders")).toBeUndefined();
    const again = await stage.scan({ script: [] });
    expect(again).toMatchObject({ state: "done", requests: 0, result: { proposals: [] } });
    await stage.context.proposals.accept(result.proposals[0]!.id, { by: "ann" });
    expect((await stage.file("orders"))?.descriptions?.ai).toBe("Rows of orders.");
  });
});

describe("a further scan", () => {
  let stage: ScanStage;
  beforeAll(async () => {
    stage = await openStage(SHOP_SQL, backend);
    await stage.scan({ script: answers });
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("of an unchanged database requests and proposes nothing", async () => {
    const again = await stage.scan({ script: [] });
    expect(again).toMatchObject({ state: "done", requests: 0, skipped: [], result: { proposals: [] } });
  });

  test("with a new column describes only that one", async () => {
    stage.database.exec("ALTER TABLE staff ADD COLUMN phone TEXT");
    const { result } = await stage.scan({
      script: [
        describeAll(({ tables }) => ({
          tables: tables.map((table) => ({
            ...table,
            columns: table.columns.map(({ name }) => ({ name, description: `Now the ${name}.` })),
          })),
        })),
        nameJoins(),
      ],
    });
    expect(backend.rehearsal.modelRequests.filter(isAboutDescriptions).flatMap(askedTables)).toMatchObject([
      { table: "staff" },
    ]);
    expect(result.tables).toEqual({ seen: 4, added: 0, changed: 1, gone: 0 });
    const columns = (await stage.file("staff"))?.columns.map(({ name, descriptions }) => [name, descriptions?.ai]);
    expect(columns).toEqual([
      ["id", "The id of staff."],
      ["name", "The name of staff."],
      ["phone", "Now the phone."],
    ]);
  });

  test("never changes a person's text or asks about it", async () => {
    const file = join(stage.context.folder.path, stage.path("staff"));
    const before = await readFile(file, "utf8");
    const edited = before
      .replace("ai: Rows of staff.", "human: Everybody who works for us.")
      .replace("ai: The name of staff.", "ai: First and last name, as on the badge.");
    await writeFile(file, edited);
    stage.database.exec("ALTER TABLE staff ADD COLUMN fax TEXT");
    await stage.scan({ script: answers });
    const staff = await stage.file("staff");
    expect(staff?.descriptions).toEqual({ human: "Everybody who works for us." });
    expect(staff?.columns[1]?.descriptions).toMatchObject({ ai: "First and last name, as on the badge." });
    expect(staff?.columns[3]?.descriptions).toEqual({ ai: "The fax of staff.", aiFor: "fax TEXT" });
  });

  test("a used-up quota keeps descriptions and joins, and the job is not done", async () => {
    const before = await stage.file("orders");
    stage.database.exec("ALTER TABLE orders ADD COLUMN note TEXT; ALTER TABLE staff ADD COLUMN room TEXT;");
    const limited = await stage.scan({
      script: [always(planLimit({ resetsAt: new Date(Date.now() + 5 * 3_600_000) }))],
    });
    expect(limited.state).toBe("partly");
    expect(limited.skipped).toContainEqual({ stage: "descriptions", item: "main.orders", code: "rate_limited" });
    const after = await stage.file("orders");
    expect(after?.descriptions).toEqual(before?.descriptions);
    expect(after?.columns.slice(0, 4).map(({ descriptions }) => descriptions)).toEqual(
      before?.columns.map(({ descriptions }) => descriptions),
    );
    expect(after?.joins).toEqual(before?.joins);
    expect(after?.columns[4]).toMatchObject({ name: "note" });
    expect(after?.columns[4]?.descriptions).toBeUndefined();

    const later = await stage.scan({ script: answers });
    expect(later.state).toBe("done");
    expect((await stage.file("orders"))?.columns[4]?.descriptions?.ai).toBe("The note of orders.");
  });

  test("lists an unreadable file and leaves it alone", async () => {
    const file = join(stage.context.folder.path, stage.path("staff"));
    const before = await readFile(file);
    await writeFile(file, "columns: [\n");
    const { state, skipped } = await stage.scan({ script: answers });
    expect(state).toBe("partly");
    expect(skipped).toEqual([{ stage: "structure", item: stage.path("staff"), code: "bad_file" }]);
    expect(await readFile(file, "utf8")).toBe("columns: [\n");
    await writeFile(file, Buffer.from([0xff, 0xfe]));
    expect(await stage.scan({ script: answers })).toMatchObject({ state: "partly", skipped });
    expect(await readFile(file)).toEqual(Buffer.from([0xff, 0xfe]));
    await writeFile(file, before);
  });

  test("that finds no tables changes nothing and fails", async () => {
    const empty = (connection: Connection) => withMethods(connection, { structure: async () => [] });
    const { state, error } = await stage.scan({ connection: empty });
    expect(state).toBe("failed");
    expect(error).toMatchObject({ code: "nothing_there", fix: expect.stringContaining("rights") });
    expect(await stage.file("orders")).toBeDefined();
  });

  test("removes a dropped table, but keeps it if a person wrote about it", async () => {
    const file = join(stage.context.folder.path, stage.path("staff"));
    await writeFile(file, `${await readFile(file, "utf8")}notes: Ask Ada before you use it.\n`);
    stage.database.exec("DROP TABLE staff; DROP TABLE lines;");
    const { result } = await stage.scan({ script: answers });
    expect(result.tables).toMatchObject({ seen: 2, gone: 2 });
    expect(await stage.file("lines")).toBeUndefined();
    expect(await stage.file("staff")).toMatchObject({ gone: true, notes: "Ask Ada before you use it." });
  });
});

test("a scan that loses most tables leaves the removal to a person", async () => {
  const many = Array.from({ length: 8 }, (_, i) => `CREATE TABLE t${i} (id INTEGER PRIMARY KEY, name TEXT);`).join("");
  await using stage = await openStage(many);
  await stage.scan();
  stage.database.exec(Array.from({ length: 6 }, (_, i) => `DROP TABLE t${i};`).join(""));
  const { result } = await stage.scan();
  expect(result.proposals).toEqual([
    { id: expect.any(String), title: "Scan of shop: tables that are gone", accepted: 0, open: expect.any(Number) },
  ]);
  expect(await stage.file("t0")).toBeDefined();
  await stage.context.proposals.accept(result.proposals[0]!.id, { by: "ann" });
  expect(await stage.file("t0")).toBeUndefined();
});

describe("without a model", () => {
  let stage: ScanStage;
  beforeAll(async () => {
    stage = await openStage(`${SHOP_SQL}; CREATE VIEW late AS SELECT * FROM orders WHERE total > 100;`);
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("a scan writes everything but descriptions", async () => {
    const { state, result } = await stage.scan();
    expect(state).toBe("done");
    expect(result).toMatchObject({ tables: { added: 5 }, descriptions: null });
    const orders = await stage.file("orders");
    expect(orders?.rows).toBe(200);
    expect(orders?.descriptions).toBeUndefined();
    expect(orders?.joins).toContainEqual(expect.objectContaining({ columns: ["customer_id"], to: "main.customers" }));
  });

  test("a join deleted by a person does not come back; others stay", async () => {
    const joins = async () => (await stage.file("orders"))?.joins?.map(({ columns }) => columns.join()) ?? [];
    expect(await joins()).toContain("customer_id");
    const before = await joins();
    const path = join(stage.context.folder.path, stage.path("orders"));
    const text = await readFile(path, "utf8");
    const [entry] = /  - columns: \[customer_id\]\n(?: {4}.*\n)+/.exec(text)!;
    await writeFile(path, text.replace(entry, ""));
    const expected = before.filter((columns) => columns !== "customer_id");
    expect(await joins()).toEqual(expected);
    for (let round = 0; round < 2; round += 1) {
      stage.database.exec(`INSERT INTO orders VALUES (${900 + round}, 3, 3, 1.5)`);
      const { state } = await stage.scan();
      expect(state).toBe("done");
      expect(await joins()).toEqual(expected);
    }
    // Removing the whole file requests a new one.
    await rm(path);
    await stage.scan();
    expect(await joins()).toEqual(before);
  });

  test("a failing index does not affect the catalogue", async () => {
    stage.database.exec("CREATE TABLE returns (id INTEGER PRIMARY KEY)");
    const sync = () => Promise.reject(new TandemError("unavailable", "The index is away."));
    Object.assign(stage.context, { search: { sync } });
    const { state, skipped } = await stage.scan();
    Object.assign(stage.context, { search: stage.search });
    expect(state).toBe("partly");
    expect(skipped).toEqual([{ stage: "search", item: "shop", code: "unavailable" }]);
    expect(await stage.file("returns")).toBeDefined();
  });

  test("lists unreadable tables and keeps their files", async () => {
    expect(await stage.file("late")).toBeDefined();
    stage.database.exec("PRAGMA legacy_alter_table = on; ALTER TABLE orders RENAME TO orders_v2;");
    const { state, skipped, result } = await stage.scan();
    expect(state).toBe("partly");
    expect(skipped).toEqual([{ stage: "structure", item: "main.late", code: "not_supported" }]);
    expect(result.tables).toMatchObject({ added: 1, gone: 1 });
    expect(await stage.file("late")).toBeDefined();
  });
});

describe("a model's answers", () => {
  let stage: ScanStage;
  beforeAll(async () => {
    stage = await openStage(SHOP_SQL, backend);
  });
  afterAll(() => stage[Symbol.asyncDispose]());

  test("empty answers are not descriptions", async () => {
    const { state, skipped } = await stage.scan({
      script: [
        describeAll(({ tables }) => ({ tables: tables.map((table) => ({ ...table, description: "", columns: [] })) })),
        nameJoins(),
      ],
    });
    expect(state).toBe("partly");
    expect(skipped).toHaveLength(4);
    expect((await stage.file("orders"))?.descriptions).toBeUndefined();
  });

  test("waits for a quota that resets soon, and reports it", async () => {
    const { state, events } = await stage.scan({ script: [rateLimited({ retryAfterSeconds: 30 }), ...answers] });
    expect(state).toBe("done");
    expect(events).toContainEqual({ type: "waiting", reason: expect.any(String), until: expect.any(String) });
  });
});

describe("failures never overwrite existing content", () => {
  test("suggested joins stay when the model is not asked or refuses", async () => {
    await using stage = await openStage(SHOP_SQL, backend);
    await stage.scan({ script: answers, scan: { modelJoins: false } });
    const path = stage.path("orders");
    const text = (await stage.context.folder.read(path))!;
    const join = [
      "  - columns: [ total ]",
      "    to: main.staff",
      "    toColumns: [ id ]",
      "    cardinality: many-to-one",
      "    origin: model",
      "    confidence: 0.8",
      "",
    ].join("\n");
    await stage.context.folder.commit([{ path, expected: text, content: text.replace(/(?<=^joins:\n)/m, join) }], {
      subject: "Ours",
      trailers: { "Tandem-Proposal": "prop_1" },
    });
    const refused = await stage.scan({ script: [describeAll(), always(when(isAboutJoins, refusal("No.")))] });
    expect(refused.state).toBe("partly");
    expect((await stage.file("orders"))?.joins).toContainEqual(expect.objectContaining({ columns: ["total"] }));
    await stage.scan({ scan: { modelJoins: false } });
    expect((await stage.file("orders"))?.joins).toContainEqual(expect.objectContaining({ columns: ["total"] }));
  });

  test("open or rejected parts of a new file are not proposed again", async () => {
    await using stage = await openStage(SHOP_SQL, backend, { descriptions: "never", joins: "never" });
    const { result } = await stage.scan({ script: answers });
    const [first] = result.proposals;
    expect(first!.open).toBeGreaterThan(5);
    expect((await stage.scan({ script: answers })).result.proposals).toEqual([]);
    await stage.context.proposals.reject(first!.id, { by: "ada" });
    expect((await stage.scan({ script: answers })).result.proposals).toEqual([]);
  });
});
