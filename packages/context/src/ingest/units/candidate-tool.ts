import { TandemError } from "@tandem/protocol";
import { defineTool, type Tool } from "@tandem/runtime";
import { z } from "zod";
import { documentOf } from "../../sources/citation.ts";
import type { DocumentRecord } from "../evidence/document-record.ts";
import { CANDIDATE_ACTIONS, scores } from "../extract/candidate.ts";
import type { EvidenceStore } from "../workbench/evidence-store.ts";

/** A statement that an agent leaves to the curator; its document is that of the first citation. */
export const writtenCandidate = z.strictObject({
  document: z.string(),
  key: z.string(),
  topic: z.string(),
  assertion: z.string(),
  rationale: z.string(),
  citations: z.array(z.string()).min(1),
  suggestedPage: z.string().nullable(),
  action: z.enum(CANDIDATE_ACTIONS),
  scores,
});
export type WrittenCandidate = z.output<typeof writtenCandidate>;

/** Per unit, and more for a unit of many documents. */
const LEAST_LIMIT = 20;
const PER_DOCUMENT = 2;

export function candidateTool(
  evidenceStore: EvidenceStore,
  documents: readonly DocumentRecord[],
  written: Map<string, WrittenCandidate>,
  refusal: () => string | undefined,
): Tool {
  const most = Math.max(LEAST_LIMIT, PER_DOCUMENT * documents.length);
  return defineTool({
    name: "candidate_write",
    description:
      "Hands one statement to the curator, who decides whether it enters the wiki and where. For small or doubtful things, and for contradictions (action conflict). The same key again replaces the former.",
    schema: z.object({
      key: z
        .string()
        .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/)
        .max(80)
        .describe("Small letters, digits and -."),
      topic: z.string().min(1).max(200),
      assertion: z.string().min(1).max(500).describe("One statement that can be understood by itself."),
      rationale: z.string().max(1_000),
      citations: z.array(z.string().min(1).max(500)).min(1).max(20),
      suggestedPage: z.string().max(120).nullable().default(null),
      action: z.enum(CANDIDATE_ACTIONS),
      scores,
    }),
    execute: async (given) => {
      const refused = refusal();
      if (refused !== undefined) return { markdown: refused };
      await evidenceStore.require(given.citations);
      const own = documents.find(({ citation }) => given.citations.some((each) => documentOf(each) === citation));
      if (!own) throw new TandemError("uncited", "Cite a passage of one of your own documents.");
      if (!written.has(given.key) && written.size >= most) {
        throw new TandemError("too_many", `There are ${most} candidates already: keep the best.`);
      }
      written.set(given.key, { ...given, document: own.citation });
      return { markdown: `Candidate ${given.key} is kept.` };
    },
  });
}
