import { nearest, TandemError } from "@tandem/protocol";
import { defineTool, type Tool } from "@tandem/runtime";
import { z } from "zod";
import { pagePath } from "../../wiki/page-file.ts";
import type { Workbench } from "../workbench/workbench.ts";
import { candidateName } from "./curate-prompt.ts";
import type { CandidateGroup } from "./dedupe-candidates.ts";

export const mark = z.strictObject({
  id: z.string(),
  verdict: z.enum(["promote", "merge", "reject", "defer"]),
  reason: z.string(),
  page: z.string().nullable(),
});
export type Mark = z.output<typeof mark>;

/** Marks by candidate id; the agent uses short names. */
export function markTool(bench: Workbench, batch: readonly CandidateGroup[], marks: Map<string, Mark>): Tool {
  const names = new Map(batch.map(({ lead }, index) => [candidateName(index), lead.id]));
  return defineTool({
    name: "candidate_mark",
    description:
      "Records your decision about a candidate. For promote and merge, `page` names the page that says it now.",
    schema: z.object({
      candidate: z.string().min(1).max(20).describe("Its id, such as c1."),
      verdict: mark.shape.verdict,
      reason: z.string().min(1).max(500),
      page: z.string().max(200).nullable().default(null),
    }),
    execute: async ({ candidate, verdict, reason, page: given }) => {
      const id = names.get(candidate);
      if (id === undefined) {
        const meant = nearest(candidate, [...names.keys()]);
        throw new TandemError(
          "not_found",
          `There is no candidate ${candidate}.${meant ? ` Did you mean ${meant}?` : ""}`,
        );
      }
      const page = given?.replace(/^page:/, "") ?? null;
      if (verdict === "promote" || verdict === "merge") {
        if (page === null) throw new TandemError("no_page", `Name the page that says it now.`);
        if ((await bench.read(pagePath(page))) === undefined) {
          throw new TandemError("no_page", `There is no page ${page}: write it first, or name another.`);
        }
      }
      marks.set(id, { id, verdict, reason, page });
      const left = [...names].filter(([, each]) => !marks.has(each)).map(([name]) => name);
      return { markdown: left.length > 0 ? `Kept. Left: ${left.join(", ")}.` : "Kept. All are decided." };
    },
  });
}
