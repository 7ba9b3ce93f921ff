import type { Relationship } from "@tandem/relationships";
import { expect, test } from "vitest";
import { joinPrompt } from "./join-prompt.ts";
import { JoinReader } from "./join-reader.ts";
import { JoinTargets } from "./join-targets.ts";
import { makeColumn, makeScanned, makeTable } from "./testing/make-table.ts";
import { linkedColumns, unlinkedColumns } from "./unlinked-columns.ts";

const people = makeScanned(makeTable("people", ["id", "boss", "name"], { primaryKey: ["id"] }));
const pets = makeScanned(makeTable("pets", ["id", "keeper"], { primaryKey: ["id"] }));
const end = (table: string, ...columns: string[]) => ({ schema: "main", table, columns });
const keeper = { from: end("pets", "keeper"), to: end("people", "id"), confidence: 0.9, why: "A keeper  is a person." };

function relationship(from: string, column: string, status: Relationship["status"] = "accepted"): Relationship {
  return {
    from: { table: { schema: "main", name: from }, columns: [column] },
    to: { table: { schema: "main", name: "people" }, columns: ["id"] },
    origin: "data",
    status,
    confidence: 1,
    cardinality: "many-to-one",
    why: [],
  };
}

test("accepts a join once, however often it is suggested", () => {
  const reader = new JoinReader([people, pets], [relationship("people", "boss")]);
  reader.read({ joins: [keeper, keeper, { ...keeper, from: end("people", "boss") }] });
  expect(reader.suggestions).toEqual([
    {
      from: { table: { schema: "main", name: "pets" }, columns: ["keeper"] },
      to: { table: { schema: "main", name: "people" }, columns: ["id"] },
      why: "A keeper is a person.",
    },
  ]);
});

test.each([
  ["a table that is not there", { from: end("dogs", "keeper") }, 1],
  ["a column that is not there", { to: end("people", "key") }, 1],
  ["another schema", { to: { ...end("people", "id"), schema: "public" } }, 1],
  ["columns that do not pair", { from: end("pets", "keeper", "id") }, 1],
  ["no columns", { from: end("pets"), to: end("people") }, 1],
  ["a guess", { confidence: 0.4 }, 0],
  ["no number", { confidence: Number.NaN }, 0],
  ["itself", { to: keeper.from }, 0],
])("drops %s", (_, change, unknown) => {
  const reader = new JoinReader([people, pets], []);
  reader.read({ joins: [{ ...keeper, ...change }] });
  expect(reader).toMatchObject({ suggestions: [], unknown });
});

test("asks about columns that could be references and have no join", () => {
  const table = makeTable("visits", [], {
    primaryKey: ["id"],
    columns: [
      makeColumn("id"),
      makeColumn("person"),
      makeColumn("doctor"),
      makeColumn("day", { kind: "date" }),
      makeColumn("price", { kind: "decimal" }),
      makeColumn("room", { kind: "decimal" }),
      makeColumn("report"),
      makeColumn("country"),
    ],
  });
  const visits = makeScanned(table, {
    price: ["12.50", "8.00"],
    room: ["12", "8.0"],
    report: ["The patient was well. ".repeat(5), "b"],
    country: ["CH"],
  });
  const linked = linkedColumns([relationship("visits", "person"), relationship("visits", "doctor", "rejected")]);
  expect(unlinkedColumns(visits, linked).map(({ name }) => name)).toEqual(["doctor", "room"]);
});

test("keeps a prompt about a thousand tables within its limits", () => {
  const tables = Array.from({ length: 1_000 }, (_, i) =>
    makeScanned(makeTable(`department_${i}_records`, ["id", "owner"], { primaryKey: ["id"] })),
  );
  const persons = makeScanned(makeTable("owners", ["id"], { primaryKey: ["id"] }));
  const index = new JoinTargets([...tables, persons], new Map(), 2_000);
  const [first] = tables;
  const lines = index.linesFor([{ scanned: first!, columns: first!.table.columns.slice(1) }]);
  expect(lines.join("\n").length).toBeLessThanOrEqual(2_000);
  expect(lines.length).toBeGreaterThan(10);
  expect(lines.join("\n")).toContain('"owners"');
  expect(joinPrompt([{ scanned: first!, columns: first!.table.columns }], lines).length).toBeLessThan(2_500);
});

test("unique data can be referenced without a declared key", () => {
  const scanned = makeScanned(makeTable("countries", ["code", "name"]));
  const profile = scanned.profile!;
  const columns = profile.columns.map((column) => ({ ...column, unique: column.name === "code" }));
  const index = new JoinTargets([{ ...scanned, profile: { ...profile, columns } }], new Map(), 1_000);
  expect(index.linesFor([])).toEqual(['{"schema":"main","table":"countries","keys":[["code"]]}']);
});
