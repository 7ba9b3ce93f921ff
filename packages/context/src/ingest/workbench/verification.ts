import { defineTool, type Tool } from "@tandem/runtime";
import { z } from "zod";

export const verification = z.strictObject({
  summary: z.string(),
  verified: z.array(z.string()),
  unverified: z.array(z.string()),
});
export type VerificationRecord = z.output<typeof verification>;

/** Lookups that an agent must report before it writes. */
export class Verification {
  record: VerificationRecord | null = null;

  readonly refusal = (): string | undefined =>
    this.record === null
      ? "verification_required: nothing was written. First check what you are about to write (names against table_describe, values against value_lookup or sql_query, statements against read_source and evidence_search), and call record_verification with what you could confirm and what you could not. Then write again."
      : undefined;

  readonly tool: Tool = defineTool({
    name: "record_verification",
    description:
      "Records what you have checked before you write: which tables, columns, values and statements you have confirmed by looking, and which you could not. Needed once before the first write; call it again when you learn more.",
    schema: z.object({
      summary: z.string().min(1).max(2_000),
      verified: z.array(z.string().max(300)).max(200).default([]),
      unverified: z.array(z.string().max(300)).max(200).default([]),
    }),
    execute: async (given) => {
      this.record = {
        summary: [this.record?.summary, given.summary].filter(Boolean).join("\n"),
        verified: [...new Set([...(this.record?.verified ?? []), ...given.verified])],
        unverified: [...new Set([...(this.record?.unverified ?? []), ...given.unverified])].filter(
          (name) => !given.verified.includes(name),
        ),
      };
      return { markdown: "Recorded. You may write now; say nothing as certain that you could not verify." };
    },
  });
}
