import { EVAL_ARMS, metricQuery, type MetricQuery, VERDICTS } from "@tandem/protocol";
import { z } from "zod";
import type { FileProblem } from "./file-problem.ts";
import { readYaml } from "./read-yaml.ts";

const cell = z.union([z.string(), z.number(), z.boolean(), z.null()]);
const name = z.string().min(1).max(300);
const share = z.number().min(0).max(1);

/** The rows that a question must have, or that it has none. */
export type Expectation =
  | { kind: "abstain" }
  | { kind: "clarify" }
  | { kind: "sql"; sql: string }
  | { kind: "metric"; metric: MetricQuery }
  | { kind: "rows"; rows: z.output<typeof cell>[][]; columns: string[] };

const EXPECTED = "expected `abstain`, `clarify`, or one of `sql`, `rows` and `metric`";

/** `abstain` and `clarify` are written as a word, a gold answer as an object with one key. */
const expectation = z
  .preprocess(
    (given) => (given === "abstain" || given === "clarify" ? { kind: given } : given),
    z
      .strictObject(
        {
          kind: z.enum(["abstain", "clarify"]),
          sql: z.string().min(1).max(100_000),
          rows: z.array(z.array(cell).min(1)).max(10_000),
          columns: z.array(name).min(1),
          metric: metricQuery,
        },
        { error: ({ code }) => (code === "invalid_type" ? EXPECTED : undefined) },
      )
      .partial(),
  )
  .transform((given, issues): Expectation => {
    const { kind, sql, rows, columns, metric } = given;
    if ([kind, sql, rows, metric].filter((each) => each !== undefined).length === 1) {
      if (kind !== undefined) return { kind };
      if (sql !== undefined) return { kind: "sql", sql };
      if (metric !== undefined) return { kind: "metric", metric };
      if (rows !== undefined && new Set(rows.map((row) => row.length)).size <= 1) {
        return { kind: "rows", rows, columns: columns ?? [] };
      }
      issues.addIssue("all rows need the same number of values");
      return z.NEVER;
    }
    issues.addIssue(EXPECTED);
    return z.NEVER;
  });

const comparison = z.strictObject({
  ordered: z.boolean().default(false),
  tolerance: z.number().min(0).default(0.005),
  extraColumns: z.enum(["allow", "refuse"]).default("allow"),
  columns: z.enum(["value", "name"]).default("value"),
});

const question = z.strictObject({
  id: z
    .string()
    .max(80)
    .regex(/^[a-z0-9][a-z0-9-]*$/, "use lower-case letters, digits and hyphens"),
  ask: z.string().min(1).max(4_000),
  tags: z.array(z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "use lower-case letters, digits and hyphens")).default([]),
  expect: expectation,
  compare: comparison.prefault({}),
  /** Keys that a search for the question must find: `table:shop/main.orders`, `page:refunds`. */
  finds: z
    .array(z.string().regex(/^(table|column|value|page|memory|metric):./, "write table:shop/main.orders"))
    .default([]),
  /** Words of the question, and the column that stores the value that they mean. */
  values: z.array(z.strictObject({ value: name, column: name })).default([]),
  /** Tables in the order of the expected joins. */
  joins: z.array(z.array(name).min(2)).default([]),
  /** The expected verdict on the answer's statement. */
  verdict: z.enum(VERDICTS).optional(),
  /** A false statement about this question, which the arm `planted` shows to the agent. */
  planted: z.string().min(1).max(2_000).optional(),
});
export type EvalQuestion = z.output<typeof question>;

/** Changes of the perturbed copy, by table. Rows that refer to a removed row are removed, too. */
const perturbation = z.strictObject({
  table: name,
  every: z.int().min(2).max(1_000).default(4),
  change: z.union([z.literal("remove"), z.record(name, cell)], { error: "expected `remove` or columns with values" }),
});

const evalFile = z
  .strictObject({
    connection: name,
    /** The day that "today" means. */
    asOf: z.iso.date().optional(),
    trials: z.int().min(1).max(20).default(1),
    pass: z
      .strictObject({
        all: share,
        wrongButConfident: share,
        finds: share,
        values: share,
        joins: share,
        /** The arm that must reach `all` and `wrongButConfident`; by default the one with the most tools. */
        arm: z.enum(EVAL_ARMS),
      })
      .partial()
      .default({}),
    perturb: z.array(perturbation).default([]),
    questions: z.array(question).min(1).max(1_000),
  })
  .superRefine(({ questions }, issues) => {
    const seen = new Set<string>();
    for (const [index, { id }] of questions.entries()) {
      if (seen.has(id))
        issues.addIssue({ code: "custom", path: ["questions", index, "id"], message: `${id} is used twice` });
      seen.add(id);
    }
  });
export type EvalFile = z.output<typeof evalFile>;

export const parseEvalFile = (
  text: string,
): { success: true; file: EvalFile } | { success: false; problems: FileProblem[] } => {
  const read = readYaml(text, evalFile);
  return read.success ? { success: true, file: read.value } : { success: false, problems: read.problems };
};
