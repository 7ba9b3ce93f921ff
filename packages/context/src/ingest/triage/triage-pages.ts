import { inBatches } from "../../runs/in-batches.ts";
import type { Run } from "../../runs/job-run.ts";
import type { DocumentRecord } from "../evidence/document-record.ts";
import { PageAnswers, type UnansweredPages } from "./page-answers.ts";
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

export interface Triage extends UnansweredPages {
  pages: TriagedPage[];
}

/** Assigns each page a lane. */
export async function triagePages(run: Run, documents: readonly DocumentRecord[]): Promise<Triage> {
  const verdicts = new PageAnswers<PageLane>(run, STAGE, documents.length);
  await verdicts.ask(
    documents.map((document) => ({ document })),
    {
      schema: verdict,
      inputsOf: ({ document }) => ({
        prompt: TRIAGE_PROMPT,
        model: run.modelOf("triage"),
        page: renderPage("", document),
      }),
      batchesOf: (pages) => inBatches(pages, BATCH_LIMITS, ({ document }) => ({ characters: document.excerpt.length })),
      requestOf: (batch) => ({
        system: TRIAGE_SYSTEM,
        prompt: triagePrompt(batch.map(({ document }) => document)),
        schema: triageAnswer(batch.length),
      }),
    },
  );
  const pages = documents.flatMap((document): TriagedPage[] => {
    const given = verdicts.answers.get(document);
    return given
      ? [{ document, ...laneOf(given, document), suspicious: joined(document.suspicious, given.suspicious) }]
      : [];
  });
  const counts = { skip: 0, light: 0, full: 0 };
  for (const { lane } of pages) counts[lane] += 1;
  return { pages, ...verdicts.finish(counts) };
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
