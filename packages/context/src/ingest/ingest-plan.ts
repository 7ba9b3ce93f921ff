import { createHash } from "node:crypto";
import { type Config, type Role, TandemError } from "@tandem/protocol";
import { estimateIngest, type PlannedDocument, type PlannedRequests, totalOf } from "./estimate-ingest.ts";
import { DocumentThread } from "./evidence/document-thread.ts";
import type { ContextStore } from "../sources/context-store.ts";
import { countsOf, diffSource, type DiffCounts, type StagedItem } from "../sources/diff-source.ts";
import { fetchSource } from "../sources/fetch-source.ts";
import { readProvenance } from "../sources/provenance.ts";
import type { Source } from "../sources/source.ts";

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

/** Reads the sources like a run, without model requests or writes. */
export async function planIngest(
  store: ContextStore,
  sources: readonly Source[],
  { ingest, modelOf, signal }: { ingest: Config["ingest"]; modelOf: (role: Role) => string; signal?: AbortSignal },
): Promise<IngestPlan> {
  const plan: IngestPlan = { sources: [], documents: 0, characters: 0, skipped: [], requests: [], usd: 0 };
  const documents: PlannedDocument[] = [];
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
      for await (const found of documentsOf(source, wanted, thread, signal)) {
        if ("error" in found) skip(found.path, found.error);
        else documents.push(found);
      }
    }
  }
  plan.documents = documents.length;
  plan.characters = documents.reduce((sum, { characters }) => sum + characters, 0);
  plan.requests = estimateIngest(documents, ingest, modelOf);
  plan.usd = totalOf(plan.requests).usd;
  return plan;
}

const hashOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Reads new documents again one by one, because keeping all of them could exhaust memory. */
async function* documentsOf(
  source: Source,
  wanted: ReadonlyMap<string, StagedItem>,
  thread: DocumentThread,
  signal: AbortSignal | undefined,
): AsyncGenerator<PlannedDocument | { path: string; error: TandemError }> {
  for await (const entry of source.list({ signal })) {
    const item = entry.type === "item" ? wanted.get(entry.item.path) : undefined;
    if (entry.type !== "item" || !item) continue;
    const { citation, type, path, title } = item;
    try {
      const bytes = await entry.item.read();
      const { characters, suspicious } = await thread.convert({ citation, type, path, title, bytes });
      yield { citation, source: source.name, path, characters, suspicious };
    } catch (error) {
      if (!(error instanceof TandemError)) throw error;
      yield { path, error };
    }
  }
}
