import { z } from "zod";
import { BUDGET_UNITS } from "../words.ts";

export { BUDGET_UNITS } from "../words.ts";

// What may be spent, by whom, on what.

export type BudgetUnit = (typeof BUDGET_UNITS)[number];

/** What a limit is over. `day` is a calendar day of the server's, over everything. */
export const BUDGET_SCOPES = ["turn", "session", "agent", "project", "day"] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** Limits of one scope; what is absent is not limited. Dollars are dollars here: 2.5. */
export const limits = z
  .strictObject({
    usd: z.number().positive("expected more than 0").optional(),
    tokens: z.int().positive("expected more than 0").optional(),
    seconds: z.number().positive("expected more than 0").optional(),
    turns: z.int().positive("expected more than 0").optional(),
    requests: z.int().positive("expected more than 0").optional(),
  })
  .meta({ id: "Limits" });
export type Limits = z.infer<typeof limits>;

/** What is spent, reserved and left of one limit, and whose money it is. */
export const budgetGauge = z
  .object({
    scope: z.enum(BUDGET_SCOPES),
    /** The session's, agent's or project's id, or the day. */
    of: z.string(),
    unit: z.enum(BUDGET_UNITS),
    spent: z.number(),
    reserved: z.number(),
    /** Null where it is only counted. */
    limit: z.number().nullable(),
    /** `login of NAME`, `api_key`, … */
    payer: z.string().nullable(),
  })
  .meta({ id: "BudgetGauge" });
export type BudgetGauge = z.infer<typeof budgetGauge>;
