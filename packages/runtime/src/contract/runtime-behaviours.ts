import type { Behaviours } from "./runtime-stage.ts";
import { verifyErrors, verifyQuotas } from "./verify-errors.ts";
import { verifyLoops } from "./verify-loops.ts";
import { verifyObjects } from "./verify-objects.ts";
import { verifyReports } from "./verify-reports.ts";
import { verifyText } from "./verify-text.ts";

/** The contract of every backend by subject. The reference page lists it. */
export const BEHAVIOURS: Readonly<Record<string, Behaviours>> = {
  Text: verifyText,
  Failures: verifyErrors,
  Quotas: verifyQuotas,
  Objects: verifyObjects,
  "Agent loops": verifyLoops,
  Reports: verifyReports,
};
