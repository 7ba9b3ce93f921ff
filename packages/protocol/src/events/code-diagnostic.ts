import { z } from "zod";

/** An error that a language server found. `path` is relative to the session's folder; line and column count from 1. */
export const codeDiagnostic = z.strictObject({
  path: z.string(),
  line: z.int(),
  column: z.int(),
  message: z.string(),
  code: z.string().optional(),
  source: z.string().optional(),
});
export type CodeDiagnostic = z.infer<typeof codeDiagnostic>;
