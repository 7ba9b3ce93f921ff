import { createHash } from "node:crypto";
import { type Config, costOf, noUsage, type Role, TandemError } from "@tandem/protocol";
import { resolveModel } from "@tandem/runtime";
import { EXCERPT } from "./evidence/document-record.ts";
import { DocumentThread } from "./evidence/document-thread.ts";
import { EXTRACT_SYSTEM, MAX_CANDIDATES } from "./extract/extract-prompt.ts";
import type { ContextStore } from "./sources/context-store.ts";
import { countsOf, diffSource, type DiffCounts, type StagedItem } from "./sources/diff-source.ts";
import { fetchSource } from "./sources/fetch-source.ts";
import { readProvenance } from "./sources/provenance.ts";
import type { Source } from "./sources/source.ts";
import { inBatches } from "../runs/in-batches.ts";
import { LIGHT_LENGTH } from "./triage/triage-pages.ts";
import { BATCH_LIMITS, TRIAGE_SYSTEM } from "./triage/triage-prompt.ts";

/** Preview of a run. */
export interface IngestPlan {
  sources: (DiffCounts & { name: string; type: Source["type"]; ignored: number })[];
  /** Documents that will cost something. */
  documents: number;
  characters: number;
  skipped: { item: string; code: string; message: string }[];
  /** `triage` requests for lanes are exact; all others are estimates that depend on its results. */
  requests: PlannedRequests[];
  /** Estimate in US dollars; null if a model's price is unknown. */
  usd: number | null;
}

interface PlannedRequests {
  role: Role;
  model: string;
  requests: number;
  inputTokens: number;
  outputTokens: number;
  usd: number | null;
}

const CHARACTERS_PER_TOKEN = 4;

/** Typical figures for mixed documents, only for the preview. Steps and tokens of agents vary. */
const EXPECTED = {
  light: 0.4,
  full: 0.3,
  tokensPerVerdict: 60,
  tokensPerExtraction: 700,
  candidatesPerLight: MAX_CANDIDATES / 2,
  candidatesPerUnit: 3,
  stepsOfUnit: 10,
  stepsOfPass: 8,
  stepsOfReconcile: 6,
  /** Instructions, tools and history, mostly from the cache. */
  tokensPerStep: 6_000,
  answerPerStep: 350,
};

/** Reads the sources like a run, without model requests or writes. */
export async function planIngest(
  store: ContextStore,
  sources: readonly Source[],
  { ingest, modelOf, signal }: { ingest: Config["ingest"]; modelOf: (role: Role) => string; signal?: AbortSignal },
): Promise<IngestPlan> {
  const plan: IngestPlan = { sources: [], documents: 0, characters: 0, skipped: [], requests: [], usd: 0 };
  const lengths: number[] = [];
  await using thread = new DocumentThread();
  for (const source of sources) {
    const fetched = await fetchSource(source, { keep: async (bytes) => hashOf(bytes), signal });
    const diff = diffSource(fetched, await readProvenance(store, source.name));
    plan.sources.push({ name: source.name, type: source.type, ignored: fetched.ignored, ...countsOf(diff) });
    const skip = (path: string, { code, message }: TandemError) =>
      plan.skipped.push({ item: path === "" ? source.name : `${source.name}/${path}`, code, message });
    for (const { path, error } of fetched.skipped) skip(path, error);
    if (diff.doubt) skip("", diff.doubt);
    const wanted = new Map([...diff.added, ...diff.changed.map(({ item }) => item)].map((item) => [item.path, item]));
    if (wanted.size > 0) {
      for await (const found of lengthsOf(source, wanted, thread, signal)) {
        if ("error" in found) skip(found.path, found.error);
        else lengths.push(found.length);
      }
    }
  }
  plan.documents = lengths.length;
  plan.characters = lengths.reduce((sum, length) => sum + length, 0);
  plan.requests = requestsFor(lengths, ingest, modelOf);
  plan.usd = plan.requests.reduce<number | null>(
    (sum, { usd }) => (sum === null || usd === null ? null : sum + usd),
    0,
  );
  return plan;
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Reads new documents again one by one, because keeping all of them could exhaust memory. */
async function* lengthsOf(
  source: Source,
  wanted: ReadonlyMap<string, StagedItem>,
  thread: DocumentThread,
  signal: AbortSignal | undefined,
): AsyncGenerator<{ length: number } | { path: string; error: TandemError }> {
  for await (const entry of source.list({ signal })) {
    const item = entry.type === "item" ? wanted.get(entry.item.path) : undefined;
    if (entry.type !== "item" || !item) continue;
    const { citation, type, path, title } = item;
    try {
      const bytes = await entry.item.read();
      yield { length: (await thread.convert({ citation, type, path, title, bytes })).characters };
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
      yield { path, error };
    }
  }
}

function requestsFor(
  lengths: readonly number[],
  { workUnits, curation, reconcile }: Config["ingest"],
  modelOf: (role: Role) => string,
): PlannedRequests[] {
  if (lengths.length === 0) return [];
  const excerpts = lengths.map((length) => Math.min(length, EXCERPT));
  const batches = inBatches(excerpts, BATCH_LIMITS, (length) => ({ characters: length }));
  const short = lengths.filter((length) => length <= LIGHT_LENGTH);
  const long = lengths.length - short.length;
  const light = Math.round(short.length * EXPECTED.light);
  const full = long + Math.round(short.length * EXPECTED.full);
  const average = short.length > 0 ? short.reduce((sum, length) => sum + length, 0) / short.length : 0;
  const candidates = light * EXPECTED.candidatesPerLight + full * EXPECTED.candidatesPerUnit;
  const passes = Math.min(Math.ceil(candidates / curation.batch), curation.passes);
  const triage = {
    requests: batches.length + light,
    input:
      batches.length * tokens(TRIAGE_SYSTEM.length) +
      tokens(excerpts.reduce((sum, length) => sum + length, 0)) +
      light * (tokens(EXTRACT_SYSTEM.length) + tokens(average)),
    output: lengths.length * EXPECTED.tokensPerVerdict + light * EXPECTED.tokensPerExtraction,
  };
  const loops = (count: number, steps: number) => ({
    requests: Math.round(count * steps),
    input: Math.round(count * steps * EXPECTED.tokensPerStep),
    output: Math.round(count * steps * EXPECTED.answerPerStep),
  });
  const byRole: [Role, { requests: number; input: number; output: number }][] = [
    ["triage", triage],
    ["candidateExtraction", loops(full, Math.min(EXPECTED.stepsOfUnit, workUnits.stepBudget))],
    ["curator", loops(passes, Math.min(EXPECTED.stepsOfPass, curation.stepBudget))],
    ["reconcile", loops(full + light > 0 ? 1 : 0, Math.min(EXPECTED.stepsOfReconcile, reconcile.stepBudget))],
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
        usd: priceOf(model, requests, input, output),
      };
    });
}

const tokens = (characters: number): number => Math.ceil(characters / CHARACTERS_PER_TOKEN);

/** Priced per request, because some models charge more for long ones. Aliases are resolved. */
function priceOf(model: string, requests: number, input: number, output: number): number | null {
  const usage = { ...noUsage(), inputTokens: input / requests, outputTokens: output / requests };
  const cost = costOf(model, usage) ?? costOf(meaningOf(model), usage);
  return cost && cost.usd * requests;
}

function meaningOf(model: string): string {
  try {
    return resolveModel("anthropic", model);
  } catch {
    return model;
  }
}
