import { z } from "zod";
import { VERDICTS } from "../../words.ts";
import { metricQuery } from "./metric-query.ts";

export { VERDICTS, type VerdictKind } from "../../words.ts";

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
