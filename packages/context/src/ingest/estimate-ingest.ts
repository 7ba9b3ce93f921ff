import { createHash } from "node:crypto";
import type { Config, Role } from "@tandem/protocol";
import { inBatches } from "../runs/in-batches.ts";
import { type Estimate, estimateUsd } from "../runs/spending-limit.ts";
import { type DocumentRecord, EXCERPT } from "./evidence/document-record.ts";
import { extractBatches } from "./extract/extract-candidates.ts";
import { EXTRACT_SYSTEM, MAX_CANDIDATES } from "./extract/extract-prompt.ts";
import { LIGHT_LENGTH } from "./triage/triage-pages.ts";
import { BATCH_LIMITS, TRIAGE_SYSTEM } from "./triage/triage-prompt.ts";
import { planUnits } from "./units/plan-units.ts";

export interface PlannedRequests {
  role: Role;
  model: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  usd: number | null;
}

/** A document as the preview knows it. */
export type PlannedDocument = Pick<DocumentRecord, "citation" | "source" | "path" | "characters" | "suspicious">;

const CHARACTERS_PER_TOKEN = 4;

/**
 * Typical figures for mixed documents, only for the preview. Steps and tokens of agents vary. The target is half a
 * request per small document; most of it are the steps of agents that read documents closely.
 */
const EXPECTED = {
  /** Shares of documents by lane, in percent. */
  light: 40,
  full: 30,
  tokensPerVerdict: 60,
  tokensPerExtraction: 700,
  candidatesPerLight: MAX_CANDIDATES / 2,
  candidatesPerFull: 1,
  stepsOfUnit: 6,
  stepsPerDocument: 0.6,
  stepsOfPass: 4,
  stepsPerCandidate: 0.3,
  stepsOfReconcile: 6,
  /** Instructions, tools and history, mostly from the cache. */
  tokensPerStep: 6_000,
  answerPerStep: 350,
};

/** The expected requests of an ingest, by role. */
export function estimateIngest(
  documents: readonly PlannedDocument[],
  { workUnits, curation, reconcile }: Config["ingest"],
  modelOf: (role: Role) => string,
): PlannedRequests[] {
  if (documents.length === 0) return [];
  const excerptOf = ({ characters }: PlannedDocument) => Math.min(characters, EXCERPT);
  const verdicts = inBatches(documents, BATCH_LIMITS, (document) => ({ characters: excerptOf(document) }));
  const { light, full } = expectedLanes(documents);
  // The same functions as in a run: only the lanes are assumed.
  const extractions = extractBatches(light.map((document) => ({ page: document, document })));
  const units = [true, false].flatMap((isSuspicious) =>
    planUnits(full.filter(({ suspicious }) => (suspicious !== null) === isSuspicious)),
  );
  const steps = units.reduce((sum, unit) => {
    const expected = EXPECTED.stepsOfUnit + EXPECTED.stepsPerDocument * unit.documents.length;
    return sum + Math.min(expected, workUnits.stepBudget);
  }, 0);
  const candidates = light.length * EXPECTED.candidatesPerLight + full.length * EXPECTED.candidatesPerFull;
  const passes = Math.min(Math.ceil(candidates / curation.batch), curation.passes);
  const stepsOfPass = EXPECTED.stepsOfPass + EXPECTED.stepsPerCandidate * Math.min(candidates, curation.batch);
  const sum = (all: readonly PlannedDocument[], of: (each: PlannedDocument) => number) =>
    all.reduce((total, each) => total + of(each), 0);
  const triage = {
    requests: verdicts.length + extractions.length,
    input:
      verdicts.length * tokens(TRIAGE_SYSTEM.length) +
      tokens(sum(documents, excerptOf)) +
      extractions.length * tokens(EXTRACT_SYSTEM.length) +
      tokens(sum(light, ({ characters }) => characters)),
    output: documents.length * EXPECTED.tokensPerVerdict + light.length * EXPECTED.tokensPerExtraction,
  };
  const loops = (count: number, steps: number) => ({
    requests: Math.round(count * steps),
    input: Math.round(count * steps * EXPECTED.tokensPerStep),
    output: Math.round(count * steps * EXPECTED.answerPerStep),
  });
  const byRole: [Role, { requests: number; input: number; output: number }][] = [
    ["triage", triage],
    ["candidateExtraction", loops(1, steps)],
    ["curator", loops(passes, Math.min(stepsOfPass, curation.stepBudget))],
    [
      "reconcile",
      loops(full.length + light.length > 0 ? 1 : 0, Math.min(EXPECTED.stepsOfReconcile, reconcile.stepBudget)),
    ],
  ];
  return byRole
    .filter(([, { requests }]) => requests > 0)
    .map(([role, { requests, input, output }]) => {
      const model = modelOf(role);
      return {
        role,
        model,
        requests,
        inputTokens: input,
        outputTokens: output,
        usd: estimateUsd(model, { requests, inputTokens: input, outputTokens: output }),
      };
    });
}

/** Chosen by hash, so that the same documents give the same estimate, in any folder. */
function expectedLanes(documents: readonly PlannedDocument[]): Record<"light" | "full", PlannedDocument[]> {
  const hash = ({ citation }: PlannedDocument) => createHash("sha256").update(`lane ${citation}`).digest("hex");
  const short = documents.filter(({ characters }) => characters <= LIGHT_LENGTH);
  const mixed = short.map((document) => ({ document, at: hash(document) })).toSorted((a, b) => (a.at < b.at ? -1 : 1));
  const share = (percent: number) => Math.round((short.length * percent) / 100);
  const [first, second] = [share(EXPECTED.light), share(EXPECTED.light + EXPECTED.full)];
  const chosen = (from: number, to: number) => new Set(mixed.slice(from, to).map(({ document }) => document));
  const [light, close] = [chosen(0, first), chosen(first, second)];
  // In the order of the documents, which decides the batches.
  return {
    light: documents.filter((document) => light.has(document)),
    full: documents.filter((document) => close.has(document) || document.characters > LIGHT_LENGTH),
  };
}

const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

export const totalOf = (requests: readonly PlannedRequests[]): Estimate => ({
  requests: requests.reduce((sum, each) => sum + each.requests, 0),
  usd: requests.reduce<number | null>((sum, { usd }) => (sum === null || usd === null ? null : sum + usd), 0),
});
