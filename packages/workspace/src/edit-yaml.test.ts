import { describe, expect, test } from "vitest";
import { type Document, isMap, isSeq, parse, YAMLMap } from "yaml";
import { editYaml } from "./edit-yaml.ts";

const FILE = `# A table
name:   "orders"   # quoted
rows: 0x10
labels: { a: 1,   b: [x, 'y'] }   # inline
base: &base
    driver: sqlite
copy: *base
columns:
-   name: id
    type: 'integer'
    # Set by the database.
    nullable: false

-   name: total   # in cents
    type: integer
notes: |
    First line.

    Last line.
# end
`;

const columnsOf = (document: Document): YAMLMap[] => {
  const columns = document.get("columns");
  return isSeq<YAMLMap>(columns) ? columns.items : [];
};

const column = (document: Document, name: string): YAMLMap => {
  const found = columnsOf(document).find((each) => each.get("name") === name);
  if (!isMap(found)) throw new Error(`no column ${name}`);
  return found;
};

const newColumn = (document: Document, name: string): YAMLMap => {
  const map = new YAMLMap();
  map.set("name", name);
  map.set("type", document.createNode("text"));
  return map;
};

describe("an edit changes its own lines and no other byte", () => {
  test.each<[name: string, edit: (document: Document) => void, from: string, to: string]>([
    ["a value keeps its quotes", (d) => d.set("name", "customers"), '"orders"', '"customers"'],
    ["a value that is replaced by a node does not", (d) => d.set("name", d.createNode("x")), '"orders"', "x"],
    ["a value inside a list", (d) => column(d, "total").set("type", "numeric"), "integer\nnotes", "numeric\nnotes"],
    ["an inline map", (d) => d.setIn(["labels", "a"], 2), "{ a: 1,   b: [x, 'y'] }", "{a: 2, b: [x, 'y']}"],
    ["an anchored map", (d) => d.setIn(["base", "driver"], "mysql"), "driver: sqlite", "driver: mysql"],
    ["a removed key keeps its comment", (d) => column(d, "id").delete("nullable"), "    nullable: false\n", ""],
    ["a new key in a map of a list", (d) => column(d, "id").set("gone", true), "false\n", "false\n    gone: true\n"],
    ["a removed entry", (d) => d.deleteIn(["columns", 1]), "-   name: total   # in cents\n    type: integer\n", ""],
    [
      "a new entry at the end of a list",
      (d) => columnsOf(d).push(newColumn(d, "tax")),
      "    type: integer\nnotes",
      "    type: integer\n- name: tax\n  type: text\nnotes",
    ],
    [
      "a new entry between two others",
      (d) => columnsOf(d).splice(1, 0, newColumn(d, "tax")),
      "    nullable: false\n",
      "    nullable: false\n- name: tax\n  type: text\n",
    ],
    [
      "a new first key",
      (d) => isMap(d.contents) && d.contents.items.unshift(d.createPair("schema", "main")),
      "# A table\n",
      "# A table\nschema: main\n",
    ],
    ["a new last key", (d) => d.set("gone", true), "# end\n", "# end\ngone: true\n"],
    [
      "a text of several lines",
      (d) => d.set("notes", d.createNode("One")),
      "|\n    First line.\n\n    Last line.",
      "One",
    ],
    [
      "a list that becomes empty",
      (d) => d.set("columns", null),
      FILE.slice(FILE.indexOf("columns:"), FILE.indexOf("notes:")),
      "columns:\n\n",
    ],
  ])("%s", (_, edit, from, to) => {
    expect(FILE).toContain(from);
    expect(editYaml(FILE, edit)).toBe(FILE.replace(from, to));
    const windows = FILE.replaceAll("\n", "\r\n");
    expect(editYaml(windows, edit)).toBe(FILE.replace(from, to).replaceAll("\n", "\r\n"));
  });

  test("an edit without effect returns the source", () => {
    expect(editYaml(FILE, (document) => document.set("name", "orders"))).toBe(FILE);
  });

  test("moves reordered entries with their comments", () => {
    const edited = editYaml(FILE, (document) => {
      const columns = columnsOf(document);
      columns.push(columns.shift()!);
    });
    expect(parse(edited)).toMatchObject({ columns: [{ name: "total" }, { name: "id" }] });
    for (const comment of FILE.match(/#.*/g)!) expect(edited).toContain(comment);
    expect(edited).toContain(FILE.slice(0, FILE.indexOf("columns:")));
  });
});

test.each(["", "# only a comment", "---\n", "{}\n"])("a map is written into %j", (source) => {
  const edited = editYaml(source, (document) => {
    document.contents = document.createNode({ a: { b: 1 } });
  });
  expect(parse(edited)).toEqual({ a: { b: 1 } });
  expect(edited.match(/#.*/g)).toEqual(source.match(/#.*/g));
});

test("rewrites a layout that cannot be patched, keeping its comments", () => {
  const source = "- - a   # first\n  - b\n- c: 1 # one\n  d:   2\n";
  const edited = editYaml(source, (document) => {
    document.deleteIn([0, 0]);
    document.deleteIn([1, "c"]);
  });
  expect(parse(edited)).toEqual([["b"], { d: 2 }]);
});

test("rejects an edit that removes the target of an alias", () => {
  expect(() => editYaml(FILE, (document) => document.delete("base"))).toThrow("Unresolved alias");
});
