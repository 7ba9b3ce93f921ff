import type { RecordChange } from "@tandem/storage";
import { readPage } from "../../wiki/page-file.ts";
import type { TableDraft } from "../catalogue/draft-dbt.ts";
import type { CandidateDecision } from "../curate/curate.ts";
import { documentOf } from "../../sources/citation.ts";
import { forgetDocument } from "../evidence/keep-evidence.ts";
import { listCandidates, markCandidate } from "../extract/candidates.ts";
import type { StagedItem } from "../../sources/diff-source.ts";
import { deleteProvenance, type Provenance, putProvenance } from "../../sources/provenance.ts";
import type { TriagedPage } from "../triage/triage-pages.ts";
import type { IngestLine } from "../workbench/ingest-line.ts";
import type { Pages } from "../workbench/pages.ts";

export interface Settled {
  /** Documents whose results are stored. */
  pages: readonly TriagedPage[];
  /** Their previous provenance. */
  before: ReadonlyMap<string, Provenance>;
  renamed: readonly { item: StagedItem; before: Provenance }[];
  /** Deleted documents that nothing rests on any more, or that were decided about. */
  deleted: readonly Provenance[];
  verdicts: readonly CandidateDecision[];
  changed: Pages;
  tables: readonly TableDraft[];
}

/**
 * Records the work atomically once the proposal is stored. From then on the documents count as unchanged, even if a
 * person rejects the proposal.
 */
export async function settleLine({ run, store }: IngestLine, settled: Settled): Promise<void> {
  const { pages, before, renamed, deleted, verdicts, changed, tables } = settled;
  const artifacts = artifactsByDocument(changed, tables);
  const at = new Date().toISOString();
  const gone = new Set(deleted.map(({ citation }) => citation));
  const outdated =
    gone.size === 0
      ? []
      : (await listCandidates(store, ["open", "deferred"])).filter(({ document }) => gone.has(document));
  const changes: RecordChange[] = [
    ...verdicts.map(({ candidate, state, note }) => markCandidate(candidate, state, note)),
    ...outdated.map((candidate) => markCandidate(candidate, "superseded", "Its document was deleted.")),
    ...pages.map(({ document: { source, path, sha256, citation }, lane }) => {
      const known = before.get(citation)?.artifacts ?? [];
      const all = [...new Set([...known, ...(artifacts.get(citation) ?? [])])].sort();
      return putProvenance({ source, path, sha256, citation, lane, artifacts: all, job: run.job, at });
    }),
    ...renamed.flatMap(({ item: { source, path, sha256, citation }, before: old }) => [
      deleteProvenance(old),
      putProvenance({ ...old, source, path, sha256, citation, at }),
    ]),
    ...deleted.map(deleteProvenance),
  ];
  if (changes.length > 0) await store.records.write(store.space, changes);
  for (const { citation } of deleted) await forgetDocument(store, citation);
}

function artifactsByDocument(pages: Pages, tables: readonly TableDraft[]): Map<string, Set<string>> {
  const found = new Map<string, Set<string>>();
  const add = (document: string, artifact: string) =>
    found.set(document, (found.get(document) ?? new Set()).add(artifact));
  for (const { path, after } of pages.changes) {
    const page = readPage(path, after);
    for (const { citation } of page?.sources ?? []) add(documentOf(citation), `page:${page!.key}`);
  }
  for (const { artifact, documents } of tables) for (const document of documents) add(document, artifact);
  return found;
}
