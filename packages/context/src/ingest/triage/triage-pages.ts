import type { LlmError } from "@tandem/protocol";
import { ModelCalls } from "../../runs/model-calls.ts";
import { inBatches } from "../../runs/in-batches.ts";
import type { Run } from "../../runs/job-run.ts";
import { stepTogether } from "../../runs/step-together.ts";
import type { DocumentRecord } from "../evidence/document-record.ts";
import {
  BATCH_LIMITS,
  type Lane,
  renderPage,
  TRIAGE_PROMPT,
  TRIAGE_SYSTEM,
  triageAnswer,
  triagePrompt,
  type PageLane,
  verdict,
} from "./triage-prompt.ts";

const STAGE = "triage";

/** Limit of one light extraction call. A longer page is read by a work unit, whatever triage says. */
export const LIGHT_LENGTH = 48_000;

export interface TriagedPage {
  document: DocumentRecord;
  lane: Lane;
  reason: string;
  /** By signs in its text or by the model. Everything that rests on it is quarantined. */
  suspicious: string | null;
}

export interface Triage {
  pages: TriagedPage[];
  /** Already listed as skipped. They have no lane, because a failure is not a verdict; the next run retries them. */
  failed: { document: DocumentRecord; error: LlmError }[];
  /** Pages that were not requested any more, and why. Listed once. */
  stopped?: { error: LlmError; pages: number };
}

/**
 * Assigns each page a lane. Small pages are batched. Each verdict is cached separately, by content, prompt and model,
 * so it is never paid for twice. A batch that fails because of its content is retried page by page, so that one refused
 * page does not affect the others.
 */
export async function triagePages(run: Run, documents: readonly DocumentRecord[]): Promise<Triage> {
  run.emit({ type: "stage_started", stage: STAGE, total: documents.length });
  const calls = new ModelCalls(run, "triage");
  const verdicts = new Map<DocumentRecord, PageLane>();
  const failures = new Map<DocumentRecord, LlmError>();
  const settle = (document: DocumentRecord) =>
    run.emit({
      type: "stage_progress",
      stage: STAGE,
      done: verdicts.size + failures.size,
      total: documents.length,
      item: `${document.source}/${document.path}`,
    });

  const ask = async (pages: readonly DocumentRecord[], keep: (page: DocumentRecord, value: PageLane) => void) => {
    const schema = triageAnswer(pages.length);
    const reply = await calls.object({ system: TRIAGE_SYSTEM, prompt: triagePrompt(pages), schema });
    if ("answer" in reply) {
      for (const [index, page] of pages.entries()) {
        verdicts.set(page, reply.answer[index]!);
        keep(page, reply.answer[index]!);
        settle(page);
      }
    } else if (calls.stopped) {
      return;
    } else if (pages.length > 1 && reply.error.code !== "timeout") {
      for (const page of pages) await ask([page], keep);
    } else {
      for (const page of pages) {
        failures.set(page, reply.error);
        settle(page);
      }
    }
  };

  await stepTogether(run, {
    kind: STAGE,
    schema: verdict,
    items: documents,
    inputsOf: (page) => ({ prompt: TRIAGE_PROMPT, model: run.modelOf("triage"), page: renderPage("", page) }),
    onStored: (page, stored) => {
      verdicts.set(page, stored);
      settle(page);
    },
    compute: async (missing, keep) => {
      const batches = inBatches(missing, BATCH_LIMITS, (page) => ({ characters: page.excerpt.length }));
      await Promise.all(batches.map((batch) => ask(batch, keep)));
    },
  });
  return finish(run, documents, verdicts, failures, calls.stopped);
}

function finish(
  run: Run,
  documents: readonly DocumentRecord[],
  verdicts: ReadonlyMap<DocumentRecord, PageLane>,
  failures: ReadonlyMap<DocumentRecord, LlmError>,
  stoppedBy: LlmError | undefined,
): Triage {
  const pages = documents.flatMap((document): TriagedPage[] => {
    const given = verdicts.get(document);
    return given
      ? [{ document, ...laneOf(given, document), suspicious: joined(document.suspicious, given.suspicious) }]
      : [];
  });
  const failed = [...failures].map(([document, error]) => ({ document, error }));
  for (const { document, error } of failed) run.skip(STAGE, `${document.source}/${document.path}`, error);
  const left = documents.length - pages.length - failed.length;
  const counts = { skip: 0, light: 0, full: 0, failed: failed.length, left };
  for (const { lane } of pages) counts[lane] += 1;
  if (stoppedBy && left > 0) run.skip(STAGE, `${left} ${left === 1 ? "page" : "pages"}`, stoppedBy);
  run.emit({ type: "stage_finished", stage: STAGE, counts });
  return { pages, failed, ...(stoppedBy && left > 0 && { stopped: { error: stoppedBy, pages: left } }) };
}

const laneOf = ({ lane, reason }: PageLane, { characters }: DocumentRecord): { lane: Lane; reason: string } =>
  lane === "light" && characters > LIGHT_LENGTH
    ? { lane: "full", reason: `${reason} (too long for a quick look)` }
    : { lane, reason };

/** Joins all reasons for suspicion. */
export const joined = (...reasons: readonly (string | null)[]): string | null => {
  const found = [...new Set(reasons.filter((reason) => reason !== null && reason.trim() !== ""))];
  return found.length > 0 ? found.join("; ") : null;
};
