import { expect, test } from "vitest";
import { describeProblem } from "./file-problem.ts";
import { parseEvalFile } from "./eval-file.ts";

const WHOLE = `connection: shop
asOf: 2026-06-30
trials: 3
pass: { all: 0.9, wrongButConfident: 0 }
perturb:
  - { table: orders, every: 5, change: remove }
  - { table: orders, change: { status: cancelled } }
questions:
  - id: revenue
    ask: What was our revenue?
    tags: [fan-out]
    expect: { sql: SELECT 1 }
    compare: { ordered: true, tolerance: 0 }
    finds: [table:shop/main.orders]
    values: [{ value: germany, column: main.customers.country }]
    joins: [[orders, customers]]
    verdict: proven
    planted: Revenue includes cancelled orders.
  - { id: by-month, ask: By month?, expect: { metric: { metrics: [revenue], by: [placed.month] } } }
  - { id: known, ask: How many?, expect: { rows: [[3]], columns: [n] } }
  - { id: footprint, ask: What is our CO2 footprint?, expect: abstain }
  - { id: best, ask: Who is our best customer?, expect: clarify }
`;

const problemsOf = (text: string): string[] => {
  const parsed = parseEvalFile(text);
  return parsed.success ? [] : parsed.problems.map(describeProblem);
};

test("a file has questions with each kind of expectation", () => {
  const parsed = parseEvalFile(WHOLE);
  expect(problemsOf(WHOLE)).toEqual([]);
  if (!parsed.success) return;
  expect(parsed.file.questions.map((question) => question.expect.kind)).toEqual([
    "sql",
    "metric",
    "rows",
    "abstain",
    "clarify",
  ]);
  expect(parsed.file.questions[1]!.compare).toEqual({
    ordered: false,
    tolerance: 0.005,
    extraColumns: "allow",
    columns: "value",
  });
});

test("an invalid file is reported with the path and the line of each problem", () => {
  expect(problemsOf(WHOLE.replace("{ sql: SELECT 1 }", "refuse"))).toEqual([
    "Line 12: Questions.0.expect: expected `abstain`, `clarify`, or one of `sql`, `rows` and `metric`.",
  ]);
  expect(problemsOf(WHOLE.replace("{ rows: [[3]], columns: [n] }", "{ rows: [[3]], sql: SELECT 3 }"))).toEqual([
    "Line 20: Questions.2.expect: expected `abstain`, `clarify`, or one of `sql`, `rows` and `metric`.",
  ]);
  expect(problemsOf(WHOLE.replace("metrics: [revenue]", "metric: revenue"))).toEqual([
    "Line 19: Questions.1.expect.metric.metrics: Invalid input: expected array, received undefined.",
    'Line 19: Questions.1.expect.metric: Unrecognized key: "metric".',
  ]);
  expect(problemsOf(WHOLE.replace("id: best", "id: known"))).toEqual(["Line 22: Questions.4.id: known is used twice."]);
  expect(problemsOf(WHOLE.replace("change: remove", "change: drop"))).toEqual([
    "Line 6: Perturb.0.change: expected `remove` or columns with values.",
  ]);
});
