import type { LlmError } from "@tandem/protocol";
import { inBatches } from "../../runs/in-batches.ts";
import { ModelCalls } from "../../runs/model-calls.ts";
import type { Run } from "../../runs/job-run.ts";
import { stepTogether } from "../../runs/step-together.ts";
import { readChunks } from "../evidence/read-evidence.ts";
import type { ContextStore } from "../../sources/context-store.ts";
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
  type ReadPage,
  renderReadPage,
} from "./extract-prompt.ts";

const STAGE = "extract";

// Bounds memory, because each page's text is held until its answer. The runtime limits concurrency.
const AT_ONCE = { items: 1_000, characters: 2_000_000 };

export interface Extracted {
  /** All successful pages, including those without candidates; existing candidates keep their state. */
  pages: { page: TriagedPage; candidates: Candidate[] }[];
  /** Already listed as skipped; the next run retries them. */
  failed: { page: TriagedPage; error: LlmError }[];
  stopped?: { error: LlmError; pages: number };
}

interface LightPage extends ReadPage {
  page: TriagedPage;
}

/**
 * Extracts candidates from pages of the lane `light` and stores them. Small pages share a request; each answer is cached
 * by its own page, so that a changed page asks only for itself. A suspicious page is asked alone, because its text must
 * not affect the answer about others. A batch that fails because of its content is retried page by page.
 */
export async function extractCandidates(
  run: Run,
  store: ContextStore,
  pages: readonly TriagedPage[],
): Promise<Extracted> {
  run.emit({ type: "stage_started", stage: STAGE, total: pages.length });
  const calls = new ModelCalls(run, "triage");
  const kept = new Map<TriagedPage, Candidate[]>();
  const failures = new Map<TriagedPage, LlmError>();
  const answers = new Map<TriagedPage, Extraction>();
  const settle = ({ document }: TriagedPage) => {
    const item = `${document.source}/${document.path}`;
    const done = answers.size + failures.size;
    run.emit({ type: "stage_progress", stage: STAGE, done, total: pages.length, item });
  };
  const answered = (page: TriagedPage, answer: Extraction) => {
    answers.set(page, answer);
    settle(page);
  };

  const ask = async (batch: readonly LightPage[], keep: (page: LightPage, answer: Extraction) => void) => {
    const reply = await calls.object({
      system: EXTRACT_SYSTEM,
      prompt: extractPrompt(batch),
      schema: extractAnswer(batch),
    });
    if ("answer" in reply) {
      for (const [index, each] of batch.entries()) {
        keep(each, reply.answer[index]!);
        answered(each.page, reply.answer[index]!);
      }
    } else if (calls.stopped) {
      // Pages that were never requested have not failed.
      return;
    } else if (batch.length > 1 && reply.error.code !== "timeout") {
      for (const each of batch) await ask([each], keep);
    } else {
      for (const { page } of batch) {
        failures.set(page, reply.error);
        settle(page);
      }
    }
  };

  for (const window of inBatches(pages, AT_ONCE, ({ document }) => ({ characters: document.characters }))) {
    const items = await Promise.all(
      window.map(async (page): Promise<LightPage> => {
        const { document } = page;
        return { page, document, chunks: await readChunks(store, document.chunks) };
      }),
    );
    await stepTogether(run, {
      kind: STAGE,
      schema: extraction,
      items,
      inputsOf: (each) => ({
        prompt: EXTRACT_PROMPT,
        model: run.modelOf("triage"),
        page: renderReadPage("", each),
      }),
      onStored: ({ page }, stored) => answered(page, stored),
      compute: async (missing, keep) => {
        await Promise.all(extractBatches(missing).map((batch) => ask(batch, keep)));
      },
    });
    for (const page of window) {
      const answer = answers.get(page);
      if (answer) kept.set(page, await keepCandidates(store, page.document, candidatesOf(run, page, answer)));
    }
  }

  const failed = [...failures].map(([page, error]) => ({ page, error }));
  for (const { page, error } of failed) run.skip(STAGE, `${page.document.source}/${page.document.path}`, error);
  const left = pages.length - kept.size - failed.length;
  const { stopped } = calls;
  if (stopped && left > 0) run.skip(STAGE, `${left} ${left === 1 ? "page" : "pages"}`, stopped);
  const done = pages.flatMap((page) => (kept.has(page) ? [{ page, candidates: kept.get(page)! }] : []));
  const candidates = done.reduce((sum, each) => sum + each.candidates.length, 0);
  run.emit({
    type: "stage_finished",
    stage: STAGE,
    counts: { pages: done.length, candidates, failed: failed.length, left },
  });
  return { pages: done, failed, ...(stopped && left > 0 && { stopped: { error: stopped, pages: left } }) };
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
