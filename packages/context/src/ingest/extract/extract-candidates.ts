import { inBatches } from "../../runs/in-batches.ts";
import type { Run } from "../../runs/job-run.ts";
import { readChunks } from "../evidence/read-evidence.ts";
import type { ContextStore } from "../../sources/context-store.ts";
import { PageAnswers, type UnansweredPages } from "../triage/page-answers.ts";
import { joined, type TriagedPage } from "../triage/triage-pages.ts";
import type { Candidate } from "./candidate.ts";
import { candidateId, keepCandidates } from "./candidates.ts";
import {
  EXTRACT_LIMITS,
  EXTRACT_PROMPT,
  EXTRACT_SYSTEM,
  extractAnswer,
  extraction,
  type Extraction,
  extractPrompt,
  renderReadPage,
} from "./extract-prompt.ts";

const STAGE = "extract";

// Bounds memory, because each page's text is held until its answer. The runtime limits concurrency.
const AT_ONCE = { items: 1_000, characters: 2_000_000 };

export interface Extracted extends UnansweredPages {
  /** All successful pages, including those without candidates; existing candidates keep their state. */
  pages: { page: TriagedPage; candidates: Candidate[] }[];
}

/**
 * Extracts candidates from pages of the lane `light` and stores them. A suspicious page is asked alone, because its text must
 * not affect the answer about others.
 */
export async function extractCandidates(
  run: Run,
  store: ContextStore,
  pages: readonly TriagedPage[],
): Promise<Extracted> {
  const extractions = new PageAnswers<Extraction>(run, STAGE, pages.length);
  const done: Extracted["pages"] = [];
  for (const window of inBatches(pages, AT_ONCE, ({ document }) => ({ characters: document.characters }))) {
    const items = await Promise.all(
      window.map(async (page) => {
        const { document } = page;
        return { page, document, chunks: await readChunks(store, document.chunks) };
      }),
    );
    await extractions.ask(items, {
      schema: extraction,
      inputsOf: (each) => ({
        prompt: EXTRACT_PROMPT,
        model: run.modelOf("triage"),
        page: renderReadPage("", each),
      }),
      batchesOf: extractBatches,
      requestOf: (batch) => ({
        system: EXTRACT_SYSTEM,
        prompt: extractPrompt(batch),
        schema: extractAnswer(batch),
      }),
    });
    for (const page of window) {
      const answer = extractions.answers.get(page.document);
      if (!answer) continue;
      done.push({ page, candidates: await keepCandidates(store, page.document, candidatesOf(run, page, answer)) });
    }
  }
  const candidates = done.reduce((sum, each) => sum + each.candidates.length, 0);
  return { pages: done, ...extractions.finish({ pages: done.length, candidates }) };
}

/** The requests for some pages; the preview counts them by the same function. */
export function extractBatches<T extends { page: Pick<TriagedPage, "suspicious">; document: { characters: number } }>(
  pages: readonly T[],
): T[][] {
  const suspicious = pages.filter(({ page }) => page.suspicious !== null);
  const others = pages.filter(({ page }) => page.suspicious === null);
  return [
    ...inBatches(others, EXTRACT_LIMITS, ({ document }) => ({ characters: document.characters })),
    ...suspicious.map((each) => [each]),
  ];
}

function candidatesOf(run: Run, { document, suspicious }: TriagedPage, answer: Extraction): Candidate[] {
  const createdAt = new Date().toISOString();
  return answer.candidates.flatMap(({ action, ...found }): Candidate[] => {
    if (action === "skip") return [];
    const { source, path, sha256, citation } = document;
    return [
      {
        ...found,
        action,
        id: candidateId({ document: citation, sha256, key: found.key }),
        document: citation,
        source,
        path,
        sha256,
        suspicious: joined(suspicious, answer.suspicious?.slice(0, 300).toWellFormed() ?? null),
        state: "open",
        note: null,
        job: run.job,
        createdAt,
      },
    ];
  });
}
