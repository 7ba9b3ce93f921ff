import { TandemError } from "@tandem/protocol";
import { defineTool, type Tool } from "@tandem/runtime";
import { z } from "zod";
import type { ContextFolder } from "../../folder/context-folder.ts";
import type { Metrics } from "../../metrics/metrics-service.ts";
import { asQuotation } from "../../untrusted/as-quotation.ts";
import type { EvidenceStore } from "./evidence-store.ts";

/** A metrics file as an agent wants it; part of a stored step. */
export const metricDraft = z.strictObject({
  path: z.string(),
  before: z.string().nullable(),
  after: z.string(),
  citations: z.array(z.string()),
});
export type MetricDraft = z.output<typeof metricDraft>;

/** The part of metrics that ingest needs. */
export type MetricGate = Pick<Metrics, "gate">;

const MAX_TEXT = 40_000;

/** Drafts a change of a metrics file. The gate rejects invalid definitions and tells the agent the reason. */
export const metricTool = (parts: {
  gate: MetricGate;
  folder: Pick<ContextFolder, "read">;
  evidenceStore: EvidenceStore;
  drafts: Map<string, MetricDraft>;
  /** The answer instead of a draft; undefined if it is allowed. */
  refusal: () => string | undefined;
  signal: AbortSignal;
}): Tool => {
  const seen = new Set<string>();
  return defineTool({
    name: "metric_draft",
    description:
      "Drafts the definitions of one entity: its file in the metrics folder, whole. Use it only for a figure whose formula, rows and filters the passages state; a person decides about every draft. Load the skill `metrics` first. The draft is checked against the catalogue and the database, and refused with the reason if it does not fit. If the file exists, the first call returns its text: keep what is right, and add to it.",
    schema: z.object({
      connection: z.string().min(1).max(200),
      entity: z.string().regex(/^[a-z][a-z0-9_]*$/),
      text: z.string().min(1).max(MAX_TEXT).describe("The whole file, as YAML."),
      citations: z.array(z.string().min(1).max(500)).min(1).max(20).describe("Passages that state the definitions."),
    }),
    execute: async ({ connection, entity, text, citations }) => {
      const { gate, folder, evidenceStore, drafts, refusal, signal } = parts;
      const refused = refusal();
      if (refused !== undefined) return { markdown: refused };
      const path = `metrics/${connection}/${entity}.yaml`;
      const before = (await folder.read(path)) ?? null;
      const current = drafts.get(path)?.after ?? before;
      if (current !== null && !seen.has(path)) {
        seen.add(path);
        return {
          markdown: `The file exists; nothing was kept. Draft it again with all that stays.\n${asQuotation("file", { path }, current)}`,
        };
      }
      await evidenceStore.require(citations);
      const problems = await gate.gate({ path, text: `${text.trim()}\n` }, { signal });
      if (problems.length > 0) {
        const reasons = problems.map(({ name, message, fix }) =>
          [name && `${name}:`, message, fix].filter(Boolean).join(" "),
        );
        throw new TandemError("gate_failed", `The draft was rejected: ${reasons.join(" ")}`, {
          fix: "Correct it, or leave out what the passages and the catalogue do not support.",
        });
      }
      const earlier = drafts.get(path)?.citations ?? [];
      seen.add(path);
      drafts.set(path, {
        path,
        before,
        after: `${text.trim()}\n`,
        citations: [...new Set([...earlier, ...citations])],
      });
      return { markdown: `${path} is drafted. A person decides about it.` };
    },
  });
};
