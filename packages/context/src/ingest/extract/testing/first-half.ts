import { putProvenance } from "../../../sources/provenance.ts";
import type { ContextStore } from "../../../sources/context-store.ts";
import type { Source } from "../../../sources/source.ts";
import { stageSources } from "../../../sources/stage-sources.ts";
import { keepEvidence } from "../../evidence/keep-evidence.ts";
import { triagePages } from "../../triage/triage-pages.ts";
import { extractCandidates } from "../extract-candidates.ts";
import type { MemoryRun } from "../../../scan/testing/memory-run.ts";

/** Runs the stages up to the candidates and records their success. */
export async function ingestFirstHalf(run: MemoryRun, store: ContextStore, sources: readonly Source[]) {
  const diffs = await stageSources(run, store, sources);
  const items = diffs.flatMap(({ added, changed }) => [...added, ...changed.map(({ item }) => item)]);
  const documents = await keepEvidence(run, store, items);
  const triage = await triagePages(run, documents);
  const extracted = await extractCandidates(
    run,
    store,
    triage.pages.filter(({ lane }) => lane === "light"),
  );
  const settled = [...triage.pages.filter(({ lane }) => lane === "skip"), ...extracted.pages.map(({ page }) => page)];
  await store.records.write(
    store.space,
    settled.map(({ document: { source, path, sha256, citation }, lane }) =>
      putProvenance({
        source,
        path,
        sha256,
        citation,
        lane,
        artifacts: [],
        job: run.job,
        at: new Date().toISOString(),
      }),
    ),
  );
  return { diffs, documents, triage, extracted };
}
