import { Document, parse } from "yaml";
import { expect, test } from "vitest";
import { parseTableFile } from "./table-file.ts";
import { withoutSampleLists } from "./sample-lists.ts";

const VALUES = [
  "plain",
  "two words",
  "007",
  "1e3",
  "-5",
  "- 5",
  "true",
  "True",
  "null",
  "~",
  "0x1F",
  "a: b",
  "10:30",
  "a,b",
  "x]",
  "#no",
  "it's",
  '"q"',
  "ends:",
  "ünï",
  "日本",
  "",
  " lead",
  "trail ",
  "a  b",
  "back\\slash",
  "tab\tbed",
  "new\nline",
  "2026-01-05",
  "*star",
  "&and",
  "!bang",
  "%p",
  "@at",
  "`tick",
  "{a}",
  "[b",
  "=",
  "<<",
  ".5",
  "5.",
  "+7",
  "1_000",
  ".inf",
  "y",
  "no",
  "-",
  "?",
  "|",
  ">",
  "\u0000",
  "\u2028",
];

const fileWith = (samples: readonly unknown[], extra = "") => {
  const written = new Document(samples).toString({ collectionStyle: "flow", lineWidth: 0 }).trim();
  // JSON is YAML, for values that would take several lines.
  const line = written.includes("\n") ? JSON.stringify(samples) : written;
  return `connection: c\nschema: s\ntable: t\ntype: table\ncolumns:\n  - name: a\n    type: TEXT\n    profile:\n      samples: ${line}\n${extra}`;
};
const samplesOf = (text: string) => {
  const parsed = parseTableFile(text);
  return parsed.success ? parsed.table.columns[0]!.profile!.samples : parsed.problems;
};

test("lists of values are read as a YAML parser reads them", () => {
  for (const value of VALUES) {
    const text = fileWith([value, 5, "z", -2.5, true]);
    const { columns } = parse(text) as { columns: { profile: { samples: unknown[] } }[] };
    expect(columns[0]!.profile.samples, JSON.stringify(value)).toEqual([value, 5, "z", -2.5, true]);
    expect(samplesOf(text), JSON.stringify(value)).toEqual([value, 5, "z", -2.5, true]);
  }
  expect(samplesOf(fileWith(VALUES))).toEqual(VALUES);
});

test("most lists need no YAML parser", () => {
  expect(withoutSampleLists(fileWith(["a", "b c", "007", 5, "it's"])).lists).toEqual([["a", "b c", "007", 5, "it's"]]);
});

test("text of people that looks like a list stays as it is", () => {
  const notes = "notes: |\n  see\n    samples: [a, b]\n";
  const parsed = parseTableFile(fileWith(["x"], notes));
  expect(parsed).toMatchObject({ success: true, table: { notes: "see\n  samples: [a, b]\n" } });
});

test("an error names the line of the file", () => {
  const parsed = parseTableFile(`${fileWith(["x"])}rows: many\n`);
  expect(parsed).toMatchObject({ success: false, problems: [{ line: 10 }] });
});
