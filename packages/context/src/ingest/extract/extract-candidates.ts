import { inParallel, type LlmError } from "@tandem/protocol";
import { ModelCalls } from "../../runs/model-calls.ts";
import type { Run } from "../../runs/job-run.ts";
import type { Chunk, DocumentRecord } from "../evidence/document-record.ts";
import { readChunks } from "../evidence/read-evidence.ts";
import type { ContextStore } from "../sources/context-store.ts";
import { joined, type TriagedPage } from "../triage/triage-pages.ts";
import type { Candidate } from "./candidate.ts";
import { candidateId, keepCandidates } from "./candidates.ts";
import {
  EXTRACT_PROMPT,
  EXTRACT_SYSTEM,
  extractAnswer,
  extraction,
  type Extraction,
  extractPrompt,
} from "./extract-prompt.ts";

const STAGE = "extract";

// Bounds memory, because each holds its page's text. The runtime limits concurrency.
const PAGES_AT_ONCE = 64;

export interface Extracted {
  /** All successful pages, including those without candidates; existing candidates keep their state. */
  pages: { page: TriagedPage; candidates: Candidate[] }[];
  /** Already listed as skipped; the next run retries them. */
  failed: { page: TriagedPage; error: LlmError }[];
  stopped?: { error: LlmError; pages: number };
}

class Failed extends Error {
  readonly error: LlmError;
  constructor(error: LlmError) {
    super(error.message);
    this.error = error;
  }
}

/** Extracts candidates from pages of the lane `light`, one call per page, and stores them. */
export async function extractCandidates(
  run: Run,
  store: ContextStore,
  pages: readonly TriagedPage[],
): Promise<Extracted> {
  run.emit({ type: "stage_started", stage: STAGE, total: pages.length });
  const calls = new ModelCalls(run, "triage");
  const kept = new Map<TriagedPage, Candidate[]>();
  const failures = new Map<TriagedPage, LlmError>();

  await inParallel(pages, PAGES_AT_ONCE, async (page) => {
    const { document } = page;
    try {
      const chunks = await readChunks(store, document.chunks);
      const answer = await askOnce(run, calls, document, chunks);
      kept.set(page, await keepCandidates(store, document, candidatesOf(run, page, answer)));
    } catch (error) {
      if (!(error instanceof Failed)) throw error;
      // Pages that were never requested have not failed.
      if (calls.stopped) return;
      failures.set(page, error.error);
    }
    const item = `${document.source}/${document.path}`;
    run.emit({ type: "stage_progress", stage: STAGE, done: kept.size + failures.size, total: pages.length, item });
  });

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

function askOnce(run: Run, calls: ModelCalls, document: DocumentRecord, chunks: readonly Chunk[]): Promise<Extraction> {
  const prompt = extractPrompt(document, chunks);
  const inputs = { prompt: EXTRACT_PROMPT, model: run.modelOf("triage"), page: prompt };
  return run.step(STAGE, inputs, extraction, async () => {
    const reply = await calls.object({ system: EXTRACT_SYSTEM, prompt, schema: extractAnswer(chunks) });
    if ("error" in reply) throw new Failed(reply.error);
    return reply.answer;
  });
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
