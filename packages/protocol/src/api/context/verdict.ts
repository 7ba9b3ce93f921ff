import { z } from "zod";
import { metricQuery } from "./metric-query.ts";

/** From harmless to severe: the verdict on a statement is that of its worst part. */
export const VERDICTS = [
  "proven",
  "deviates",
  "lossy",
  "can_inflate",
  "unknown_join",
  "wrong_grain",
  "inflated",
  "not_judged",
] as const;
export type VerdictKind = (typeof VERDICTS)[number];

const verdictPart = z.object({
  kind: z.enum(VERDICTS).exclude(["proven", "not_judged"]),
  aggregate: z.string().optional().meta({ description: "The aggregate whose value is affected: `sum(o.total)`." }),
  relation: z.string().optional().meta({ description: "The relation whose rows are affected." }),
  metric: z.string().optional().meta({ description: "The metric that the aggregate deviates from." }),
  factor: z.number().optional().meta({ description: "The value divided by the one without repeated rows." }),
  message: z.string(),
});
export type VerdictPart = z.infer<typeof verdictPart>;

export const statementVerdict = z
  .object({
    verdict: z
      .enum(VERDICTS)
      .meta({ description: "The worst of the parts. `proven`: no aggregate counts a row twice." }),
    parts: z.array(verdictPart),
    reason: z.string().optional().meta({ description: "Why it was not judged." }),
    instead: metricQuery.optional().meta({ description: "A metric query that measures the same." }),
    rewrite: z
      .string()
      .optional()
      .meta({ description: "The statement with each aggregate at its own grain. It is always `proven`." }),
  })
  .meta({ id: "StatementVerdict" });
export type StatementVerdict = z.infer<typeof statementVerdict>;
