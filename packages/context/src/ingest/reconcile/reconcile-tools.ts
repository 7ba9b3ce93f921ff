import { nearest, TandemError } from "@tandem/protocol";
import { defineTool, type Tool } from "@tandem/runtime";
import { z } from "zod";
import { diffHunks, diffLines } from "@tandem/workspace";
import { toLines } from "../../lines/line-edits.ts";
import { pageKeyOf } from "../../wiki/page-file.ts";
import { asQuotation } from "../../untrusted/as-quotation.ts";
import type { EvidenceStore } from "../workbench/evidence-store.ts";
import type { Pages } from "../workbench/pages.ts";
import type { Workbench } from "../workbench/workbench.ts";
import type { Eviction } from "./resting-pages.ts";

export const contradiction = z.strictObject({
  about: z.string(),
  question: z.string(),
  sides: z.array(z.strictObject({ claim: z.string(), citations: z.array(z.string()) })),
});
export const evictionVerdict = z.strictObject({
  artifact: z.string(),
  decision: z.enum(["keep", "remove"]),
  reason: z.string(),
});
export const mergeVerdict = z.strictObject({ into: z.string(), from: z.array(z.string()), reason: z.string() });

/** The agent's decisions. */
export class Ruling {
  readonly contradictions: z.output<typeof contradiction>[] = [];
  readonly evictions = new Map<string, z.output<typeof evictionVerdict>>();
  readonly merges: z.output<typeof mergeVerdict>[] = [];
}

const CONTEXT = 2;

export interface ReconcileParts {
  /** State of the run at the start. */
  pages: Pages;
  bench: Workbench;
  evidenceStore: EvidenceStore;
  evictions: readonly Eviction[];
  ruling: Ruling;
}

export const reconcileTools = ({ pages, bench, evidenceStore, evictions, ruling }: ReconcileParts): Tool[] => [
  defineTool({
    name: "stage_list",
    description: "Lists the pages that this run has changed: by whom, and by how many lines.",
    schema: z.object({}),
    execute: async () => {
      const lines = pages.changes.map(({ path, before, after }) => {
        const edits = diffLines(toLines(before), toLines(after));
        const [plus, minus] = edits.reduce(
          ([p, m], { start, end, lines: l }) => [p + l.length, m + end - start],
          [0, 0],
        );
        const what = before === null ? "new" : after === null ? "removed" : "changed";
        return `- ${pageKeyOf(path) ?? path}: ${what}, +${plus} -${minus}, by ${pages.by(path).join(", ")}`;
      });
      return { markdown: lines.join("\n") || "This run has changed no page." };
    },
  }),
  defineTool({
    name: "stage_diff",
    description: "Shows what this run has changed in a page, as a diff.",
    schema: z.object({ page: z.string().min(1).max(200) }),
    execute: async ({ page }) => {
      const key = page.replace(/^page:/, "");
      const change = pages.changes.find(({ path }) => pageKeyOf(path) === key);
      if (!change) throw new TandemError("not_found", `This run has not changed ${key}. stage_list says what it has.`);
      return { markdown: asQuotation("diff", { page: key }, diffText(change.before, change.after)) };
    },
  }),
  defineTool({
    name: "eviction_list",
    description:
      "Lists the pages that rest on passages which are gone: their documents were deleted, or do not say so any more. Each of them needs a decision with emit_eviction.",
    schema: z.object({}),
    execute: async () => {
      const lines = evictions.map(
        ({ artifact, citations, whole }) =>
          `- ${artifact}: ${whole ? "rests on nothing else" : "rests on other passages as well"}; gone: ${citations.join(", ")}`,
      );
      return { markdown: lines.join("\n") || "No text rests on removed sources." };
    },
  }),
  defineTool({
    name: "emit_contradiction",
    description:
      "Flags statements that cannot both be true, so that a person decides. Each side cites the passages that say so. Leave both on the page.",
    schema: z.object({
      about: z.string().min(1).max(300).describe("page:KEY or table:CONNECTION/SCHEMA.TABLE"),
      question: z.string().min(1).max(500).describe("The decision that a person has to make, in one sentence."),
      sides: z
        .array(
          z.object({
            claim: z.string().min(1).max(500),
            citations: z.array(z.string().min(1).max(500)).min(1).max(10),
          }),
        )
        .min(2)
        .max(6),
    }),
    execute: async (given) => {
      const all = given.sides.flatMap(({ citations }) => citations);
      await evidenceStore.require(all);
      if (new Set(all).size < 2)
        throw new TandemError(
          "one_source",
          "Both sides cite the same passage: that is no contradiction between sources.",
        );
      ruling.contradictions.push(given);
      return { markdown: "Flagged for a person." };
    },
  }),
  defineTool({
    name: "emit_eviction",
    description:
      "Decides about a page of eviction_list. remove: after you have removed the page, or taken what rested on the gone passages out of it. keep: it holds all the same; say why.",
    schema: z.object({
      artifact: z.string().min(1).max(300),
      decision: evictionVerdict.shape.decision,
      reason: z.string().min(1).max(500),
    }),
    execute: async ({ artifact, decision, reason }) => {
      const name = artifact.startsWith("page:") ? artifact : `page:${artifact}`;
      const eviction = evictions.find((each) => each.artifact === name);
      if (!eviction) {
        const meant = nearest(
          name,
          evictions.map((each) => each.artifact),
        );
        throw new TandemError("not_found", `${name} is not on the list.${meant ? ` Did you mean ${meant}?` : ""}`);
      }
      const page = await bench.page(name.slice("page:".length));
      const left = eviction.citations.filter((gone) => page?.sources.some(({ citation }) => citation === gone));
      if (decision === "remove" && left.length > 0) {
        throw new TandemError(
          "still_there",
          `${name} still cites ${left.join(", ")}: change it with wiki_write or wiki_remove first.`,
        );
      }
      ruling.evictions.set(name, { artifact: name, decision, reason });
      return { markdown: "Kept as decided." };
    },
  }),
  defineTool({
    name: "emit_merge",
    description: "Records that pages were merged into one, after you have written that one and removed the others.",
    schema: z.object({
      into: z.string().min(1).max(200),
      from: z.array(z.string().min(1).max(200)).min(1).max(20),
      reason: z.string().min(1).max(500),
    }),
    execute: async ({ into, from, reason }) => {
      const plain = (key: string) => key.replace(/^page:/, "");
      if (!(await bench.page(plain(into))))
        throw new TandemError("not_found", `There is no page ${into}: write it first.`);
      for (const key of from) {
        if (await bench.page(plain(key)))
          throw new TandemError("still_there", `${key} is still there: remove it first.`);
      }
      ruling.merges.push({ into: plain(into), from: from.map(plain), reason });
      return { markdown: "Recorded." };
    },
  }),
];

/** Changed lines with context, as hunks. */
export const diffText = (before: string | null, after: string | null): string =>
  diffHunks(toLines(before), toLines(after), CONTEXT)
    .flatMap(({ old_start: line, lines }) => [`@@ line ${line}`, ...lines])
    .join("\n");
