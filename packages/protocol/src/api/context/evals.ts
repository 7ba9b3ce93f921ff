import { z } from "zod";
import { listOf } from "../page.ts";
import { VERDICTS } from "./verdict.ts";

/** Sets of tools that an agent may use, in growing order. Each arm includes those before it. */
export const EVAL_ARMS = ["bare", "catalogue", "joins", "wiki", "metrics", "planted"] as const;
export type EvalArm = (typeof EVAL_ARMS)[number];

const arm = z.enum(EVAL_ARMS).meta({
  description:
    "bare: the schema and SQL. catalogue: descriptions and search. joins: join paths, values and verdicts. wiki: pages and memories. metrics: metric queries. planted: all of these, with a false passage among the hits.",
});

/**
 * `correct`: the rows are the expected ones. `wrong`: the agent gave an answer, and it is not: wrong but confident.
 * `failed`: there was no answer, its statement did not run, or it gets another verdict than the question wants.
 */
const OUTCOMES = ["correct", "wrong", "abstained", "clarified", "failed"] as const;

const trial = z.object({
  outcome: z.enum(OUTCOMES),
  passed: z.boolean(),
  reason: z.string().nullable().meta({ description: "Why it did not pass." }),
  answer: z.string().nullable().meta({ description: "The statement, the metric query, or the agent's words." }),
  verdict: z.enum(VERDICTS).nullable(),
  steps: z.int(),
  input_tokens: z.int(),
  output_tokens: z.int(),
  usd: z.number().nullable().meta({ description: "At list price; null if the model's price is unknown." }),
  recorded: z.boolean().meta({ description: "Answered from a recording, without a model." }),
});
export type EvalTrial = z.infer<typeof trial>;

const place = { file: z.string(), question: z.string(), arm };

const result = z.object({ ...place, tags: z.array(z.string()), ask: z.string(), trials: z.array(trial) });
export type EvalResult = z.infer<typeof result>;

const interval = z
  .object({ value: z.number(), low: z.number(), high: z.number() })
  .meta({ id: "EvalInterval", description: "A share with its 95 % Wilson interval over the questions." });

const score = z.object({
  arm,
  tag: z.string().nullable().meta({ description: "Null: all questions." }),
  questions: z.int(),
  trials: z.int(),
  k: z.int(),
  pass_at_1: interval,
  pass_hat_k: interval.meta({ description: "The share of questions of which k of k trials pass." }),
  wrong_but_confident: interval,
  tokens: z.int(),
  usd: z.number().nullable(),
});
export type EvalScore = z.infer<typeof score>;

const change = z.object({
  ...place,
  arm: arm.nullable().meta({ description: "Null: a check without a model." }),
  before: z.string(),
  after: z.string(),
  reason: z.string().nullable(),
});

const comparison = z
  .object({
    compared: z.int(),
    fixes: z.array(change),
    breaks: z.array(change),
    changed: z.array(change).meta({ description: "More or fewer trials pass, but not all of them in either run." }),
    missing: z.array(z.object(place)).meta({ description: "Questions that only one of the runs has answered." }),
  })
  .meta({ id: "EvalComparison" });
export type EvalComparison = z.infer<typeof comparison>;

const tally = z.object({
  wanted: z.int(),
  found: z.int(),
  missed: z.array(z.object({ file: z.string(), question: z.string(), message: z.string() })),
});
export type EvalTally = z.infer<typeof tally>;

const checks = z
  .object({
    gold: tally.meta({ description: "Gold answers that run, have rows and get the expected verdict." }),
    finds: tally.meta({ description: "Keys among the first ten hits of a search for the question." }),
    values: tally,
    joins: tally,
    perturbed: tally.meta({ description: "Gold statements that also run on the perturbed copy." }),
    discriminating: z.int().meta({ description: "Gold statements with other rows on the perturbed copy." }),
  })
  .meta({ id: "EvalChecks", description: "The parts that need no model." });
export type EvalChecks = z.infer<typeof checks>;

export const evalReport = z
  .object({
    files: z.array(z.string()),
    model: z.string().nullable().meta({ description: "Null: no model was asked." }),
    arms: z.array(arm),
    proposal: z.string().nullable(),
    checks,
    results: z.array(result),
    scores: z.array(score),
    asked: z.int().meta({ description: "Trials that a model answered in this run." }),
    recorded: z.int().meta({ description: "Trials that were answered from recordings." }),
    missed: z.array(z.string()).meta({ description: "Thresholds of the files that were not reached." }),
    comparison: comparison
      .nullable()
      .meta({ description: "With a proposal: the context without it against the context with it." }),
  })
  .meta({ id: "EvalReport" });
export type EvalReport = z.infer<typeof evalReport>;

const evalFileSummary = z
  .object({
    path: z.string(),
    connection: z.string().nullable(),
    questions: z.int(),
    tags: z.record(z.string(), z.int()),
    problems: z.array(z.string()),
  })
  .meta({ id: "EvalFile" });
export type EvalFileSummary = z.infer<typeof evalFileSummary>;

export const evalsApi = {
  "context.evals.list": { response: listOf(evalFileSummary) },
};
