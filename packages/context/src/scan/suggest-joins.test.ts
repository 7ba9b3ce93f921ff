import type { Relationship } from "@tandem/relationships";
import { always, planLimit, refusal, type ScriptEntry, when } from "@tandem/rehearsal";
import { expect, test } from "vitest";
import type { ScannedTable } from "../privacy/scanned-table.ts";
import { suggestJoins } from "./suggest-joins.ts";
import { askedTables, nameJoins } from "./testing/scan-answers.ts";
import { makeScanned, makeTable } from "./testing/make-table.ts";
import { MemoryRun } from "./testing/memory-run.ts";
import { sharedBackend } from "./testing/shared-backend.ts";

const backend = await sharedBackend();

const people = makeScanned(makeTable("people", ["id"], { primaryKey: ["id"] }));
const tablesOf = (count: number): ScannedTable[] => [
  people,
  ...Array.from({ length: count }, (_, i) =>
    makeScanned(makeTable(`t${i}`, ["id", "keeper", "colour"], { primaryKey: ["id"] })),
  ),
];
const join = (table: string, column: string) => ({
  from: { schema: "main", table, columns: [column] },
  to: { schema: "main", table: "people", columns: ["id"] },
  confidence: 0.9,
  why: "A keeper is a person.",
});
const known = (table: string, column: string): Relationship => ({
  from: { table: { schema: "main", name: table }, columns: [column] },
  to: { table: { schema: "main", name: "people" }, columns: ["id"] },
  origin: "data",
  status: "accepted",
  confidence: 1,
  cardinality: "many-to-one",
  why: [],
});

async function suggest(
  tables: readonly ScannedTable[],
  script: readonly ScriptEntry[],
  { found = [] as Relationship[], steps = new Map<string, unknown>() } = {},
) {
  const runtime = backend.play(script);
  const run = new MemoryRun(runtime, { steps });
  const { suggestions, unknown } = await suggestJoins(run, runtime, tables, found, "shop");
  return { run, suggestions, unknown, requests: backend.rehearsal.modelRequests };
}

test("asks about all columns without a join in one request, and not again", async () => {
  const tables = tablesOf(2);
  const { requests, suggestions } = await suggest(tables, [nameJoins(join("t1", "keeper"))], {
    found: [known("t0", "keeper")],
  });
  expect(requests).toHaveLength(1);
  const asked = askedTables(requests[0]!).map(({ table, columns }) => [table, columns.map(({ name }) => name)]);
  expect(asked).toEqual([
    ["t0", ["colour"]],
    ["t1", ["keeper", "colour"]],
  ]);
  expect(requests[0]!.lastUserText).toContain('{"schema":"main","table":"people","keys":[["id"]]}');
  expect(suggestions.map(({ from }) => from)).toEqual([{ table: { schema: "main", name: "t1" }, columns: ["keeper"] }]);
});

test("asks about all tables in any number; a repetition requests nothing", async () => {
  const tables = tablesOf(130);
  const steps = new Map<string, unknown>();
  const first = await suggest(tables, [nameJoins(join("t129", "keeper"), join("nowhere", "id"))], { steps });
  expect(first.requests).toHaveLength(4);
  expect(first.requests.flatMap(askedTables)).toHaveLength(130);
  expect(first).toMatchObject({ suggestions: [{ why: "A keeper is a person." }], unknown: 4 });
  const again = await suggest(tables, [], { steps });
  expect(again.requests).toHaveLength(0);
  expect(again.suggestions).toEqual(first.suggestions);
});

test("requests nothing if no column could be a reference", async () => {
  const { requests } = await suggest([people], []);
  expect(requests).toHaveLength(0);
});

test("retries a refused batch in halves, and lists remaining failures", async () => {
  const { run, suggestions } = await suggest(tablesOf(4), [
    always(when((request) => askedTables(request).some(({ table }) => table === "t0"), refusal("No."))),
    nameJoins(join("t3", "keeper")),
  ]);
  expect(suggestions).toHaveLength(1);
  expect(run.skipped.map(({ stage, item, code }) => [stage, item, code])).toEqual([
    ["relationships", "main.t0", "refused"],
    ["relationships", "main.t1", "refused"],
  ]);
});

test("stops at a used-up quota", async () => {
  const { run, requests } = await suggest(tablesOf(300), [
    always(planLimit({ resetsAt: new Date(Date.now() + 5 * 3_600_000) })),
  ]);
  expect(requests.length).toBeLessThanOrEqual(4);
  expect(run.skipped).toHaveLength(300);
});
