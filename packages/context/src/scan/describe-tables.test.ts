import { always, object, planLimit, refusal, type ScriptEntry, serverError, when } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import { describeTables } from "./describe-tables.ts";
import { type ScannedTable, tableKey } from "../privacy/scanned-table.ts";
import { askedTables, describeAll } from "./testing/scan-answers.ts";
import { makeScanned, makeTable } from "./testing/make-table.ts";
import { MemoryRun } from "./testing/memory-run.ts";
import { sharedBackend } from "./testing/shared-backend.ts";

const backend = await sharedBackend();

const tablesNamed = (...names: string[]): ScannedTable[] =>
  names.map((name) => makeScanned(makeTable(name, ["id", "name", "price"])));
const eight = tablesNamed("a", "b", "c", "d", "e", "f", "g", "h");

async function describe(
  tables: readonly ScannedTable[],
  script: readonly ScriptEntry[],
  {
    run: options = {},
    llm,
    model = "model-1",
    tablesPerCall = 8,
  }: { run?: ConstructorParameters<typeof MemoryRun>[1]; llm?: object; model?: string; tablesPerCall?: number } = {},
) {
  const runtime = backend.play(script, llm);
  const run = new MemoryRun(runtime, options);
  run.model = model;
  const result = await describeTables(run, runtime, tables, { connection: "shop", tablesPerCall });
  return {
    run,
    counts: result.counts,
    of: (name: string) => result.descriptions.get(tableKey({ schema: "main", name }))!,
    asked: backend.rehearsal.modelRequests.map((request) => askedTables(request).map(({ table }) => table)),
  };
}

test("sends one request for eight tables, and three for twenty", async () => {
  const few = await describe(eight, [describeAll()]);
  expect(few.asked).toEqual([["a", "b", "c", "d", "e", "f", "g", "h"]]);
  expect(few.of("c")).toEqual({
    table: "Rows of c.",
    columns: new Map(["id", "name", "price"].map((name) => [name, `The ${name} of c.`])),
  });
  const many = await describe(tablesNamed(...Array.from({ length: 20 }, (_, i) => `t${i}`)), [describeAll()]);
  expect(many.asked.map(({ length }) => length).toSorted((a, b) => a - b)).toEqual([4, 8, 8]);
  expect(many.counts).toEqual({ described: 20, cached: 0, incomplete: 0, unknown: 0 });
});

test("a repetition requests nothing; a changed table is requested alone, and everything for another model", async () => {
  const steps = new Map<string, unknown>();
  await describe(eight, [describeAll()], { run: { steps } });
  const again = await describe(eight, [], { run: { steps } });
  expect(again.asked).toEqual([]);
  expect(again.counts).toMatchObject({ described: 0, cached: 8 });
  expect(again.of("h").table).toBe("Rows of h.");

  const grown = eight.with(3, makeScanned(makeTable("d", ["id", "name", "price", "vat"])));
  expect((await describe(grown, [describeAll()], { run: { steps } })).asked).toEqual([["d"]]);
  const newRows = eight.map(({ table }) => makeScanned(table, { name: ["another", "value"] }));
  expect((await describe(newRows, [], { run: { steps } })).asked).toEqual([]);
  const other = await describe(eight, [describeAll()], { run: { steps }, model: "model-2" });
  expect(other.asked).toHaveLength(1);
});

test("requests omitted parts once more, and only those", async () => {
  let calls = 0;
  const { asked, counts, of, run } = await describe(eight, [
    describeAll((answer) => {
      calls += 1;
      if (calls > 1) return answer;
      const [first, , ...others] = answer.tables;
      return { tables: [{ ...first!, description: " ", columns: first!.columns.slice(0, 1) }, ...others] };
    }),
  ]);
  expect(asked.slice(1).flat().toSorted()).toEqual(["a", "b"]);
  const second = backend.rehearsal.modelRequests.flatMap(askedTables).slice(8);
  expect(second.find(({ table }) => table === "a")?.columns.map(({ name }) => name)).toEqual(["name", "price"]);
  expect(of("a").columns.size).toBe(3);
  expect(counts).toMatchObject({ described: 8, incomplete: 0 });
  expect(run.skipped).toEqual([]);
});

test("lists a table omitted twice, keeps the rest, and requests it alone in the next run", async () => {
  const steps = new Map<string, unknown>();
  const first = await describe(
    eight,
    [
      describeAll((answer) => ({
        tables: answer.tables.map((table) => ({
          ...table,
          columns: table.columns.filter(({ name }) => table.table !== "c" || name !== "price"),
        })),
      })),
    ],
    { run: { steps } },
  );
  expect(first.run.skipped).toEqual([
    { stage: "descriptions", item: "main.c", code: "incomplete_answer", message: "The model left out price." },
  ]);
  expect(first.of("c").columns.has("name")).toBe(true);
  expect(first.counts).toMatchObject({ described: 7, incomplete: 1 });
  const again = await describe(eight, [describeAll()], { run: { steps } });
  expect(again.asked).toEqual([["c"]]);
});

test("drops and counts answers that were not requested", async () => {
  const { counts, of } = await describe(eight, [
    describeAll(({ tables }) => ({
      tables: [...tables, { schema: "main", table: "made_up", description: "No.", columns: [] }],
    })),
  ]);
  expect(counts).toMatchObject({ described: 8, unknown: 1 });
  expect(of("made_up")).toBeUndefined();
});

test("retries a refused batch in smaller ones: one bad table affects no other", async () => {
  const { counts, run } = await describe(eight, [
    always(when((request) => askedTables(request).some(({ table }) => table === "b"), refusal("No."))),
    describeAll(),
  ]);
  expect(run.skipped.map(({ item, code }) => [item, code])).toEqual([
    ["main.a", "refused"],
    ["main.b", "refused"],
  ]);
  expect(counts).toMatchObject({ described: 6, incomplete: 2 });
});

test("reports repeated invalid objects", async () => {
  const { counts, run } = await describe(tablesNamed("a"), [always(object({ tables: "all of them" }))]);
  expect(counts).toMatchObject({ described: 0, incomplete: 1 });
  expect(run.skipped).toMatchObject([{ item: "main.a", code: "structured_output" }]);
});

test("a used-up quota stops requests; answers are kept, the rest is listed", async () => {
  const tables = tablesNamed(...Array.from({ length: 40 }, (_, i) => `t${String(i).padStart(2, "0")}`));
  const { run, counts, asked } = await describe(
    tables,
    [
      when(
        (request) => askedTables(request).some(({ table }) => table === "t00"),
        async (request) => {
          const { answer } = describeAll();
          return typeof answer === "function" ? answer(request) : answer;
        },
      ),
      always(planLimit({ resetsAt: new Date(Date.now() + 5 * 3_600_000) })),
    ],
    { llm: { limits: { concurrency: 1 } } },
  );
  expect(counts).toMatchObject({ described: 8, incomplete: 32 });
  expect(new Set(run.skipped.map(({ code }) => code))).toEqual(new Set(["rate_limited"]));
  // Queued calls are sent; no new one starts.
  expect(asked.length).toBeLessThanOrEqual(5);
});

test("a failing service is not called for every batch", async () => {
  const tables = tablesNamed(...Array.from({ length: 80 }, (_, i) => `t${i}`));
  const { run, asked } = await describe(tables, [always(serverError())], { llm: { limits: { attempts: 2 } } });
  expect(run.skipped).toHaveLength(80);
  // At most the concurrent ones, each tried twice.
  expect(asked.length).toBeLessThanOrEqual(8);
});

test("an interrupted run keeps its answers and continues from there", async () => {
  const steps = new Map<string, unknown>();
  const controller = new AbortController();
  const tables = tablesNamed("a", "b", "c", "d");
  const interrupted = describe(
    tables,
    [
      describeAll((answer, request) => {
        if (askedTables(request)[0]?.table === "c") controller.abort();
        return answer;
      }),
    ],
    { run: { steps, signal: controller.signal }, llm: { limits: { concurrency: 1 } }, tablesPerCall: 1 },
  );
  await expect(interrupted).rejects.toMatchObject({ name: "AbortError" });
  const { asked, counts } = await describe(tables, [describeAll()], { run: { steps }, tablesPerCall: 1 });
  expect(counts).toMatchObject({ described: 2, cached: 2 });
  expect(asked.flat().toSorted()).toEqual(["c", "d"]);
});
