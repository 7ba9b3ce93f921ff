import { z } from "zod";
import { needsTrust } from "./trust-mark.ts";

const SAMPLE_MODES = ["values", "shapes", "none"] as const;
/** How much of a column's values the context stores: values, only their form, or only counts. */
export type SampleMode = (typeof SAMPLE_MODES)[number];

const mode = z.enum(SAMPLE_MODES, { error: "expected values, shapes or none" });

const FORM = "`CONNECTION`, `CONNECTION/SCHEMA.TABLE` or `CONNECTION/SCHEMA.TABLE.COLUMN`";

/** A pattern as its parts: connection, schema, table, column. */
export function samplePatternParts(pattern: string): string[] {
  const slash = pattern.indexOf("/");
  return slash === -1 ? [pattern] : [pattern.slice(0, slash), ...pattern.slice(slash + 1).split(".")];
}

/** Why a pattern is refused; undefined if it is valid. */
function problemOf(pattern: string): string | undefined {
  const parts = samplePatternParts(pattern);
  if (parts.some((part) => part === "")) return `a part of the pattern is empty; expected ${FORM}`;
  if (/[[\]{}!\\]|\*\*/.test(pattern)) return "a pattern has no other wildcards than * and ?";
  if (!pattern.includes("/")) {
    return pattern.includes(".") ? `the pattern names no connection; expected ${FORM}` : undefined;
  }
  return parts.length === 3 || parts.length === 4 ? undefined : `the pattern names no table; expected ${FORM}`;
}

const patterns = z.record(z.string(), mode).superRefine((map, context) => {
  for (const pattern of Object.keys(map)) {
    const problem = problemOf(pattern);
    if (problem !== undefined) context.addIssue({ code: "custom", path: [pattern], message: problem });
  }
});

/** One mode for all, or a mode per pattern. */
export const samples = z
  .union([mode, patterns], {
    error: "expected values, shapes or none, or a map from patterns to one of them",
  })
  .default("values")
  .meta(needsTrust("shapes", "none"))
  .describe(
    `Form in which values of a database are stored and shown to models: \`values\`, \`shapes\` (\`Aaaa@aaaa.aa\`) or \`none\` (counts only). A map sets it per pattern, ${FORM}, with the wildcards \`*\` and \`?\`; the most specific pattern wins. Likely personal data is stored as shapes unless a column pattern says \`values\`.`,
  );
export type SamplesConfig = z.output<typeof samples>;
