import { expect, test } from "vitest";
import type { DocumentRecord } from "../evidence/document-record.ts";
import { planUnits } from "./plan-units.ts";

const document = (path: string, characters = 1_000): DocumentRecord => ({
  citation: `docs/${path}`,
  source: "docs",
  type: "folder",
  path,
  sha256: "0",
  title: path,
  signals: {},
  excerpt: "",
  characters,
  chunks: [],
  suspicious: null,
  form: 1,
});
const many = Array.from({ length: 60 }, (_, index) => document(`guides/page-${String(index).padStart(2, "0")}.md`));
const shapes = (documents: readonly DocumentRecord[]) =>
  planUnits(documents).map((unit) => unit.documents.map(({ path }) => path).join(" "));

test("groups documents of a top folder within limits, deterministically", () => {
  const units = planUnits(many);
  expect(units.length).toBeLessThan(10);
  expect(Math.max(...units.map(({ documents }) => documents.length))).toBeLessThanOrEqual(24);
  expect(units.flatMap(({ documents }) => documents)).toHaveLength(60);
  expect(shapes(many.toReversed())).toEqual(shapes(many));
});

test("adding or removing a document keeps almost all units", () => {
  const before = new Set(shapes(many));
  for (let gone = 0; gone < many.length; gone += 7) {
    const after = shapes(many.toSpliced(gone, 1));
    expect(after.filter((unit) => !before.has(unit)).length).toBeLessThanOrEqual(3);
  }
  const added = shapes([...many, document("guides/page-30-b.md")]);
  expect(added.filter((unit) => !before.has(unit)).length).toBeLessThanOrEqual(3);
});

test("mixes no top folders, and a long document is alone", () => {
  const units = shapes([document("a/x.md"), document("b/x.md"), document("b/y.md", 90_000), document("b/z.md")]);
  expect(units).toContain("a/x.md");
  expect(shapes([document("a/one/x.md"), document("a/two/x.md")])).toEqual(["a/one/x.md a/two/x.md"]);
  expect(units).toContain("b/y.md");
});
