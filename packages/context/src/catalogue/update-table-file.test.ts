import type { Table } from "@tandem/connectors";
import type { Relationship, TableProfile } from "@tandem/relationships";
import { describe, expect, it } from "vitest";
import { makeChange } from "../proposals/make-hunks.ts";
import { isStale } from "./stale-description.ts";
import { parseTableFile } from "./table-file.ts";
import { tablePath } from "./table-path.ts";
import { removeTableFile, updateTableFile } from "./update-table-file.ts";

const table: Table = {
  schema: "public",
  name: "orders",
  type: "table",
  comment: "All orders",
  columns: [
    { name: "id", type: "integer", kind: "integer", nullable: false },
    { name: "customer", type: "integer", kind: "integer", nullable: true },
    { name: "note", type: "text", kind: "text", nullable: true, comment: "free\ntext" },
  ],
  primaryKey: ["id"],
  uniqueKeys: [],
  foreignKeys: [],
};
const profile: TableProfile = {
  schema: "public",
  name: "orders",
  rows: 12_345,
  rowsAreExact: true,
  sampled: 1_000,
  unreadable: [],
  columns: [{ name: "id", nulls: 0, distinct: 1_000, unique: true, min: 1, max: 12_345, samples: [1, 2] }],
};
const join: Relationship = {
  from: { table: { schema: "public", name: "orders" }, columns: ["customer"] },
  to: { table: { schema: "crm", name: "people" }, columns: ["id"] },
  origin: "data",
  status: "accepted",
  confidence: 0.983,
  cardinality: "many-to-one",
  why: ["Every value was found."],
};
const found = {
  connection: "shop",
  table,
  profile,
  joins: [join],
  descriptions: { table: "Orders of the shop.", columns: { id: "Its number." } },
  model: "model-1",
};
const first = updateTableFile(found, null).after!;
const lineOf = (text: string, part: string) => text.split("\n").findIndex((line) => line.includes(part)) + 1;
const parsed = (text: string | null) => {
  const result = parseTableFile(text!);
  if (!result.success) throw new Error(result.problems[0]!.message);
  return result.table;
};

describe("updateTableFile", () => {
  it("writes one field per line, with the evidence of each line", () => {
    expect(first).toMatchInlineSnapshot(`
      "connection: shop
      schema: public
      table: orders
      type: table
      descriptions:
        db: All orders
        ai: Orders of the shop.
      rows: 12000
      rowsAre: rounded
      profiled: sample
      primaryKey: [id]
      columns:
        - name: id
          type: integer
          descriptions:
            ai: Its number.
            aiFor: id integer
          profile:
            nulls: 0
            distinct: 1000
            distinctIs: estimated
            min: 1
            max: 12345
            samples: [1, 2]
            samplesAre: examples
        - name: customer
          type: integer
          nullable: true
        - name: note
          type: text
          nullable: true
          descriptions:
            db: free text
      joins:
        - columns: [customer]
          to: crm.people
          toColumns: [id]
          cardinality: many-to-one
          origin: data
          confidence: 0.98
          why: Every value was found.
      "
    `);
    const { support } = updateTableFile(found, null);
    const at = (part: string) => {
      const line = lineOf(first, part);
      return support.filter(({ from, to }) => from <= line && line <= to);
    };
    expect(at("db: All").map(({ aspect }) => aspect)).toEqual(["structure"]);
    expect(at("descriptions:").map(({ aspect }) => aspect)).toEqual(["structure"]);
    expect(at("ai: Its number")).toMatchObject([
      {
        aspect: "description",
        evidence: [
          { type: "database", column: "id" },
          { type: "model", model: "model-1" },
        ],
      },
    ]);
    expect(at("rows:").map(({ aspect }) => aspect)).toEqual(["profile"]);
    expect(at("to: crm.people")).toMatchObject([{ aspect: "join", certain: true }]);
    const lines = first.trimEnd().split("\n").length;
    const named = new Set(support.flatMap(({ from, to }) => Array.from({ length: to - from + 1 }, (_, i) => from + i)));
    expect(named.size).toBe(lines);
  });

  it("changes nothing without changes, and little for more rows", () => {
    expect(updateTableFile(found, first).after).toBe(first);
    const grown = { ...found, profile: { ...profile, rows: 12_400 } };
    expect(updateTableFile(grown, first).after).toBe(first);
  });

  it("ignores slightly grown ranges and figures in reasons", () => {
    const at = (max: number | string, why: string, min: number | string = 1): string => {
      const columns = [{ ...profile.columns[0]!, min, max }];
      return updateTableFile(
        { ...found, profile: { ...profile, columns }, joins: [{ ...join, why: [why] }] },
        updateTableFile(found, first).after,
      ).after!;
    };
    expect(at(12_400, "Every value was found.")).toBe(first);
    expect(parsed(at(13_000, "Every value was found.")).columns[0]!.profile!.max).toBe(13_000);
    // A shrunk range is a real change.
    expect(parsed(at(12_300, "Every value was found.")).columns[0]!.profile!.max).toBe(12_300);
    const counted = at(12_345, "All 12,345 values were found.");
    const next = { ...found, joins: [{ ...join, why: ["All 13,000 values were found."] }] };
    expect(updateTableFile(next, counted).after).toBe(counted);
    const surer = { ...next, joins: [{ ...next.joins[0]!, confidence: 0.99 }] };
    expect(updateTableFile(surer, counted).after).toContain("All 13,000 values");
    const days = at("2026-11-15", "Every value was found.", "2024-01-01");
    const column = { ...profile.columns[0]!, min: "2024-01-01", max: "2026-11-18" };
    const later = { ...found, profile: { ...profile, columns: [column] } };
    expect(updateTableFile(later, days).after).toBe(days);
  });

  it("leaves every line of a person unchanged: text, notes, comments, layout, own fields", () => {
    const edited = first
      .replace("connection: shop", "# Ours. Ask Ann.\nconnection:   'shop'")
      .replace(
        "  ai: Orders of the shop.",
        "  human: >-\n    What people bought,\n    with tests.\n  ai: Orders of the shop.",
      )
      .replace("type: text", 'type: "text"   # really JSON\n    owner: Ann')
      .concat("notes: |\n  Never sum this.\n  Twice.\n");
    const more = {
      ...table,
      columns: [...table.columns, { name: "new", type: "date", kind: "date" as const, nullable: false }],
    };
    const next = updateTableFile(
      { ...found, table: more, descriptions: { table: "Another text.", columns: {} } },
      edited,
    ).after!;
    const added = "  - name: new\n    type: date\n";
    expect(next).toBe(edited.replace("joins:\n", `${added}joins:\n`));
  });

  it("treats a model's text edited by a person as the person's", () => {
    const edited = first.replace("Its number.", "Its number, with a check digit.");
    const other = { ...found, descriptions: { table: "Better.", columns: { id: "Other." } } };
    const hand = new Set([lineOf(edited, "check digit")]);
    const next = parsed(updateTableFile(other, edited, hand).after);
    expect(next.columns[0]!.descriptions!.ai).toBe("Its number, with a check digit.");
    expect(next.descriptions!.ai).toBe("Better.");
    // The same line written by us: then the model may change it.
    expect(parsed(updateTableFile(other, edited).after).columns[0]!.descriptions!.ai).toBe("Other.");
  });

  it("keeps existing content if something could not be read", () => {
    const next = updateTableFile({ connection: "shop", table }, first).after;
    expect(next).toBe(first);
    expect(updateTableFile({ ...found, descriptions: { table: " ", columns: { id: "" } } }, first).after).toBe(first);
  });

  it("drops a deleted column, or marks it if a person wrote about it", () => {
    const without = { ...found, table: { ...table, columns: [table.columns[0]!] }, joins: [] };
    expect(parsed(updateTableFile(without, first).after).columns.map(({ name }) => name)).toEqual(["id"]);
    const edited = first.replace("  - name: note\n    type: text", "  - name: note\n    type: text\n    why: legal");
    const hand = new Set([lineOf(edited, "why: legal")]);
    const next = updateTableFile(without, edited, hand).after!;
    expect(parsed(next).columns.map(({ name, gone }) => [name, gone])).toEqual([
      ["id", undefined],
      ["note", true],
    ]);
    expect(next).toContain("why: legal");
    // The column is back.
    const back = parsed(updateTableFile(found, next, hand).after);
    expect(back.columns.map(({ name, gone }) => [name, gone])).toContainEqual(["note", undefined]);
  });

  it("replaces its own joins and keeps a person's", () => {
    const theirs = first.replace(
      "joins:\n",
      "joins:\n  - columns: [note]\n    to: public.x\n    toColumns: [y]\n    cardinality: many-to-one\n    origin: human\n    confidence: 1\n",
    );
    const next = updateTableFile({ ...found, joins: [] }, theirs);
    expect(parsed(next.after).joins).toMatchObject([{ origin: "human", to: "public.x" }]);
    expect(next.removal).toContainEqual(
      expect.objectContaining({ aspect: "join", from: lineOf(theirs, "crm.people") }),
    );
    const edited = first.replace("toColumns: [id]", "toColumns: [id] # checked");
    const hand = new Set([lineOf(edited, "# checked")]);
    expect(updateTableFile({ ...found, joins: [{ ...join, confidence: 0.5 }] }, edited, hand).after).toBe(edited);
    expect(updateTableFile({ ...found, joins: [{ ...join, status: "rejected" }] }, null).after).not.toContain("joins");
  });

  it("keeps all values of a small column, in the order of its file", () => {
    const withValues = (values: string[], of: "all" | "sample" = "all") => ({
      ...found,
      profile: {
        ...profile,
        columns: [
          { name: "note", nulls: 0, distinct: 2, unique: false, samples: values.slice(0, 1), domain: { values, of } },
        ],
        verifiedKeys: [{ columns: ["customer"], of: "all" as const }],
      },
    });
    const noteOf = (text: string) => parsed(text).columns.find(({ name }) => name === "note")?.profile;
    const stored = updateTableFile(withValues(["paid", "open"]), null).after!;
    expect(noteOf(stored)).toEqual({
      nulls: 0,
      distinct: 2,
      distinctIs: "exact",
      samples: ["paid", "open"],
      samplesAre: "all",
    });
    expect(parsed(stored).verifiedKeys).toEqual([{ columns: ["customer"], of: "all" }]);
    expect(updateTableFile(withValues(["open", "paid"]), stored).after).toBe(stored);
    expect(noteOf(updateTableFile(withValues(["late", "open", "paid"], "sample"), stored).after!)).toMatchObject({
      distinctIs: "estimated",
      samples: ["paid", "open", "late"],
      samplesAre: "sample",
    });
    const prose = Array.from({ length: 100 }, (_, at) => `${at} ${"x".repeat(150)}`);
    expect(noteOf(updateTableFile(withValues(prose), null).after!)).toMatchObject({
      distinct: 100,
      samplesAre: "examples",
      samples: [expect.stringMatching(/^.{79}…$/)],
    });
  });

  it("stores labels, checks, composite keys and the evidence of joins", () => {
    const [id, customer, note] = table.columns;
    const evidence = { checked: 40, found: 40, of: "all" as const, nulls: 0, unique: true };
    const told = {
      ...found,
      table: { ...table, columns: [id!, customer!, { ...note!, labels: ["open", "won"] }], checks: ["id > 0"] },
      joins: [{ ...join, evidence }],
      compositeKeys: [{ columns: ["customer", "note"], of: "all" as const }],
    };
    const stored = updateTableFile(told, null).after!;
    expect(parsed(stored)).toMatchObject({
      checks: ["id > 0"],
      verifiedKeys: [{ columns: ["customer", "note"], of: "all" }],
      columns: [{ name: "id" }, { name: "customer" }, { name: "note", labels: ["open", "won"] }],
      joins: [{ evidence: { compared: 40, matched: 40, of: "all" } }],
    });
    const later = (checked: number, found: number) =>
      updateTableFile({ ...told, joins: [{ ...join, evidence: { ...evidence, checked, found } }] }, stored).after!;
    expect(later(41, 41)).toBe(stored);
    expect(parsed(later(41, 40)).joins).toMatchObject([{ evidence: { compared: 41, matched: 40 } }]);
    // Without a search for joins this time, the keys stay.
    const { compositeKeys: _none, joins: _neither, ...unsearched } = told;
    expect(updateTableFile(unsearched, stored).after).toBe(stored);
  });

  it("a renamed column whose new text is not reviewed has a stale description", () => {
    const renamed = {
      ...table,
      columns: table.columns.map((each) => ({ ...each, name: each.name.replace("id", "no") })),
    };
    const draft = updateTableFile({ connection: "shop", table: renamed }, first);
    const { hunks } = makeChange(draft);
    // The structure is accepted by rule; the removal of the old text waits for a person.
    const waiting = hunks.filter(({ aspect }) => aspect === "description");
    expect(waiting.flatMap(({ oldLines }) => oldLines.map((line) => line.trim()))).toEqual(
      expect.arrayContaining(["ai: Its number.", "aiFor: id integer"]),
    );
    const accepted = first.replace("- name: id", "- name: no");
    const [column] = parsed(accepted).columns;
    expect([isStale(column!), isStale(parsed(first).columns[0]!)]).toEqual([true, false]);
    const text = { table: "Orders.", columns: { no: "The order's number." } };
    const described = updateTableFile({ connection: "shop", table: renamed, descriptions: text }, accepted).after!;
    expect(isStale(parsed(described).columns[0]!)).toBe(false);
    // A person who edits the text has reviewed it.
    const edited = accepted.replace("Its number.", "Number of the order.");
    const hand = new Set([lineOf(edited, "Number of the order.")]);
    const next = updateTableFile({ connection: "shop", table: renamed }, edited, hand).after!;
    expect(parsed(next).columns[0]!.descriptions).toEqual({ ai: "Number of the order." });
  });

  it("keeps CRLF line ends", () => {
    const windows = first.replaceAll("\n", "\r\n");
    expect(updateTableFile(found, windows).after).toBe(windows);
    const next = updateTableFile({ ...found, profile: { ...profile, rows: 99_000 } }, windows).after;
    expect(next).toBe(windows.replace("rows: 12000", "rows: 99000"));
  });

  it("rejects a broken file and reports where", () => {
    const broken = first.replace("primaryKey: [id]", "primaryKey: [id");
    expect(() => updateTableFile(found, broken)).toThrow(
      /catalogue\/shop\/public\.orders\.yaml cannot be read\. Line \d+/,
    );
  });
});

describe("removeTableFile", () => {
  it("removes generated content, and marks a file with a person's text", () => {
    expect(removeTableFile(first).after).toBeNull();
    const edited = `${first}notes: Keep me\n`;
    expect(removeTableFile(edited).after).toBe(edited.replace("type: table\n", "type: table\ngone: true\n"));
    expect(parsed(updateTableFile(found, removeTableFile(edited).after).after).gone).toBeUndefined();
  });
});

describe("tablePath", () => {
  it("is unique per table, for any name", () => {
    const path = (schema: string, name: string) => tablePath({ connection: "shop", schema, table: name });
    expect(path("public", "orders")).toBe("catalogue/shop/public.orders.yaml");
    expect(path("Straße", "订单 $1")).toBe("catalogue/shop/Straße.订单 $1.yaml");
    const odd = [
      path("a.b", "c"),
      path("a", "b.c"),
      path("../..", "etc/passwd"),
      path("a", "%62"),
      path("", "x"),
      path("a", "b "),
    ];
    expect(new Set(odd).size).toBe(odd.length);
    for (const file of odd) expect(file).toMatch(/^catalogue\/shop\/[^./][^/]*\.yaml$/);
    const long = [path("s".repeat(150), "t".repeat(150)), path("s".repeat(150), `${"t".repeat(149)}u`)];
    expect(new Set(long).size).toBe(2);
    expect(Math.max(...long.map((file) => Buffer.byteLength(file.split("/")[2]!)))).toBeLessThan(255);
  });
});
