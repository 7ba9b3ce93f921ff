import { metricQuery } from "@tandem/protocol";
import { z } from "zod";

/** The final answer of an agent. */
export const evalAnswer = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("sql"), sql: z.string() }),
  z.object({ kind: z.literal("metric"), metric: metricQuery }),
  z.object({ kind: z.literal("abstain"), reason: z.string() }),
  z.object({ kind: z.literal("clarify"), question: z.string() }),
]);
export type EvalAnswer = z.output<typeof evalAnswer>;

const LONGEST = 20_000;

/**
 * The input of the tool `final_answer`. Anthropic's API takes no alternatives at the top of a tool's schema, so the fields
 * are optional here and checked by `readAnswer`.
 */
export const answerInput = (hasMetrics: boolean) =>
  z.object({
    kind: z
      .enum(["answer", "abstain", "clarify"])
      .describe("abstain: the data cannot answer it. clarify: it has several meanings that give different figures."),
    sql: z.string().max(LONGEST).optional().describe("For answer: the one statement that returns the figures."),
    ...(hasMetrics && {
      metric_query: metricQuery.optional().describe("For answer, instead of sql: the query of metric_query."),
    }),
    reason: z.string().max(LONGEST).optional().describe("For abstain: what is missing."),
    question: z.string().max(LONGEST).optional().describe("For clarify: what you would ask the person."),
  });

type Given = {
  kind: "answer" | "abstain" | "clarify";
  sql?: string | undefined;
  metric_query?: unknown;
  reason?: string | undefined;
  question?: string | undefined;
};

/** Throws with what is missing; the agent sees the message. */
export function readAnswer({ kind, sql, metric_query: metric, reason, question }: Given): EvalAnswer {
  if (kind === "abstain") return { kind, reason: reason ?? "" };
  if (kind === "clarify") return { kind, question: question ?? "" };
  if ((sql === undefined) === (metric === undefined)) throw new Error("Give either sql or metric_query.");
  return sql === undefined ? { kind: "metric", metric: metricQuery.parse(metric) } : { kind: "sql", sql };
}
