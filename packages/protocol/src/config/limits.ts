import { z } from "zod";
import { BUDGET_UNITS } from "../words.ts";

export { BUDGET_UNITS } from "../words.ts";

// Limits on spending.

export type BudgetUnit = (typeof BUDGET_UNITS)[number];

/** The scope of a limit. `day` is a calendar day of the server, over all sessions. */
const BUDGET_SCOPES = ["turn", "session", "agent", "project", "day"] as const;
export type BudgetScope = (typeof BUDGET_SCOPES)[number];

/** Limits of one scope; an absent value is unlimited. Money is in dollars: 2.5. */
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

/** Spent, reserved and remaining amounts of one limit, and the account that pays. */
export const budgetGauge = z
  .object({
    scope: z.enum(BUDGET_SCOPES),
    /** The session's, agent's or project's id, or the day. */
    of: z.string(),
    unit: z.enum(BUDGET_UNITS),
    spent: z.number(),
    reserved: z.number(),
    /** Null if the amount is counted but not limited. */
    limit: z.number().nullable(),
    /** `login of NAME`, `api_key`, … */
    payer: z.string().nullable(),
  })
  .meta({ id: "BudgetGauge" });
export type BudgetGauge = z.infer<typeof budgetGauge>;
