import { expect, test } from "vitest";
import { hunkMatcher, type HunkFilter } from "./hunk-filter.ts";
import { groupHunks } from "./hunk-groups.ts";
import type { Change, Hunk } from "./proposal.ts";

const seen = { type: "database" as const, connection: "shop", table: "sales.orders", finding: "seen" };
const judged = { type: "model" as const, model: "m", role: "candidateExtraction" as const };

const hunkOf = (id: number, fields: Partial<Hunk>): Hunk => ({
  id: String(id),
  oldStart: 1,
  oldLines: [],
  newStart: 1,
  newLines: ["x"],
  aspect: "structure",
  fingerprint: String(id),
  support: [[0]],
  removal: [],
  state: "open",
  ...fields,
});
const changeOf = (path: string, hunks: readonly Partial<Hunk>[]): Change => ({
  path,
  before: null,
  after: null,
  evidence: [seen, judged],
  hunks: hunks.map((fields, index) => hunkOf(index + 1, fields)),
});
const join = (confidence: number, fields: Partial<Hunk> = {}): Partial<Hunk> => ({
  aspect: "join",
  newLines: ["joins:", "  - columns: [id]", `    confidence: ${confidence}`],
  ...fields,
});

const changes = [
  changeOf("catalogue/shop/sales.orders.yaml", [
    { newLines: ["primaryKey: [id]", "uniqueKeys:", "  - [number]"] },
    { newLines: ["table: orders"] },
    join(0.97, { certain: true }),
    join(0.71, { support: [[0, 1]] }),
  ]),
  changeOf("catalogue/shop/sales.Order%20Details.yaml", [
    join(0.93, { certain: true }),
    join(0.5, { state: "rejected" }),
  ]),
  changeOf("catalogue/shop/hr.people.yaml", [{ aspect: "description", support: [[0, 1]], held: "It gives orders." }]),
];

test("groups hunks by kind, origin, certainty and schema, each with a filter that selects exactly it", () => {
  const groups = groupHunks(changes);
  expect(
    groups.map(({ title, area, counts: { open }, held, confidence }) => [title, area, open, held, confidence]),
  ).toEqual([
    ["Descriptions by a model", "catalogue/shop/hr", 1, 1, null],
    ["Tables and columns from the database", "catalogue/shop/sales", 1, 0, null],
    ["Keys from the database", "catalogue/shop/sales", 1, 0, null],
    ["Joins suggested by a model, to review", "catalogue/shop/sales", 1, 0, { min: 0.71, max: 0.71 }],
    ["Joins verified in the data", "catalogue/shop/sales", 2, 0, { min: 0.93, max: 0.97 }],
    ["Joins to review", "catalogue/shop/sales", 0, 0, { min: 0.5, max: 0.5 }],
  ]);
  for (const group of groups) {
    const isMatch = hunkMatcher(group.filter);
    const [found] = groupHunks(changes, isMatch);
    expect(found).toEqual(group);
    expect(groupHunks(changes, isMatch)).toHaveLength(1);
  }
});

test("uses larger areas if a proposal has too many schemas or folders", () => {
  const many = Array.from({ length: 300 }, (_, index) => changeOf(`catalogue/shop/s${index}.t.yaml`, [{}]));
  expect(groupHunks(many)).toMatchObject([
    { area: "catalogue/shop", files: 300, filter: { paths: ["catalogue/shop/**"] } },
  ]);
});

test.each<[HunkFilter, string[]]>([
  [{ paths: ["sales.*"], kinds: ["join"] }, ["orders 3", "orders 4", "Details 1", "Details 2"]],
  [{ paths: ["Order Details"] }, ["Details 1", "Details 2"]],
  [{ paths: ["shop/hr.*"] }, ["people 1"]],
  [{ paths: ["catalogue/*/sales.orders.yaml"], kinds: ["key", "structure"] }, ["orders 1", "orders 2"]],
  [{ minConfidence: 0.9 }, ["orders 3", "Details 1"]],
  [{ certain: false }, ["orders 4", "Details 2"]],
  [{ origins: ["model"] }, ["orders 4", "people 1"]],
])("selects hunks by %j", (filter, expected) => {
  const isMatch = hunkMatcher(filter);
  const found = changes.flatMap((change) =>
    change.hunks
      .filter((hunk) => isMatch(change, hunk))
      .map(({ id }) => `${/(\w+)\.yaml$/.exec(decodeURIComponent(change.path))![1]} ${id}`),
  );
  expect(found).toEqual(expected);
});
