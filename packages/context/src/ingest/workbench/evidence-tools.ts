import { nearest, TandemError } from "@tandem/protocol";
import { defineTool, type Tool } from "@tandem/runtime";
import { z } from "zod";
import type { Chunk, DocumentRecord } from "../evidence/document-record.ts";
import { asQuotation } from "../../untrusted/as-quotation.ts";
import type { EvidenceStore } from "./evidence-store.ts";

const LINES = { usual: 400, most: 1_500 };

export const quoteChunk = ({ citation, title, headings, content }: Chunk): string =>
  asQuotation("passage", { citation, title: [title, ...headings].join(" › ") }, content);

/** Searches all read documents. */
export const evidenceTools = (evidenceStore: EvidenceStore): Tool[] => [
  defineTool({
    name: "evidence_search",
    description:
      "Finds passages of all documents that were read, by words, in any language. Use it to see whether other documents say the same, more, or the opposite. Gives citations and snippets; read a passage whole with evidence_neighbours before you rest a statement on it.",
    schema: z.object({ query: z.string().min(1).max(500), limit: z.int().min(1).max(20).default(8) }),
    execute: async ({ query, limit }) => {
      const hits = await evidenceStore.search(query, limit);
      const lines = hits.map(({ chunk: { citation, title, headings }, snippet }) =>
        asQuotation("passage", { citation, title: [title, ...headings].join(" › ") }, snippet),
      );
      return { markdown: lines.join("\n\n") || "Nothing was found. Try other or fewer words." };
    },
  }),
  defineTool({
    name: "evidence_neighbours",
    description: "Reads a passage whole, with those before and after it in its document.",
    schema: z.object({ citation: z.string().min(1).max(500), around: z.int().min(0).max(3).default(1) }),
    execute: async ({ citation, around }) => {
      await evidenceStore.require([citation]);
      const chunks = await evidenceStore.neighbours(citation, around);
      return { markdown: chunks.map(quoteChunk).join("\n\n") };
    },
  }),
];

/** Reads only the documents given to the agent. */
export function sourceTool(evidenceStore: EvidenceStore, documents: readonly DocumentRecord[]): Tool {
  const names = documents.flatMap(({ path, citation }) => [path, citation]);
  return defineTool({
    name: "read_source",
    // Without file names: their authors choose them, and a tool description is trusted.
    description:
      "Reads one of your documents, by its path or citation as the task names them, or one passage of it by the passage's citation. Long ones come in parts: `from` is the first line wanted.",
    schema: z.object({
      source: z.string().min(1).max(1_000).describe("A path or a citation."),
      from: z.int().min(1).default(1),
      lines: z.int().min(1).max(LINES.most).default(LINES.usual),
    }),
    execute: async ({ source, from: first, lines }) => {
      const document = documents.find(
        ({ source: from, path, citation, chunks }) =>
          [path, `${from}/${path}`, citation].includes(source) || chunks.includes(source),
      );
      if (!document) {
        const meant = nearest(source, names);
        throw new TandemError(
          "not_found",
          `${JSON.stringify(source)} is not one of your documents.${meant ? ` Did you mean ${JSON.stringify(meant)}?` : ""} Others can be searched with evidence_search.`,
        );
      }
      const chunks = await evidenceStore.read(document.chunks.includes(source) ? [source] : document.chunks);
      const all = chunks.map(quoteChunk).join("\n\n").split("\n");
      const shown = all.slice(first - 1, first - 1 + lines);
      const rest = all.length - (first - 1 + shown.length);
      const more = rest > 0 ? `\n\nThere are ${rest} more lines, from ${first + shown.length}.` : "";
      return { markdown: `${shown.join("\n")}${more}` };
    },
  });
}
