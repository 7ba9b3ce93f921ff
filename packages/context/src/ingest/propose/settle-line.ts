import type { RecordChange } from "@tandem/storage";
import { parsePage, pageKeyOf } from "../../wiki/page-file.ts";
import type { TableDraft } from "../catalogue/draft-dbt.ts";
import type { Verdict } from "../curate/curate.ts";
import { documentOf } from "../evidence/citation.ts";
import { forgetDocument } from "../evidence/keep-evidence.ts";
import { listCandidates, markCandidate } from "../extract/candidates.ts";
import type { StagedItem } from "../sources/diff-source.ts";
import { deleteProvenance, type Provenance, putProvenance } from "../sources/provenance.ts";
import type { TriagedPage } from "../triage/triage-pages.ts";
import type { IngestLine } from "../workbench/ingest-line.ts";
import type { Pages } from "../workbench/pages.ts";

export interface Settled {
  /** Documents of which all that was to be made is safe now. */
  pages: readonly TriagedPage[];
  /** What was known of them before. */
  before: ReadonlyMap<string, Provenance>;
  renamed: readonly { item: StagedItem; before: Provenance }[];
  /** Those that nothing rests on any more, or about which it was decided. */
  deleted: readonly Provenance[];
  verdicts: readonly Verdict[];
  changed: Pages;
  tables: readonly TableDraft[];
}

/**
 * Writes down what was done, once the proposal is stored: all of it at once. From here on the documents are unchanged, also
 * if a person rejects the proposal: what was read once is not read again for that.
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
    const key = pageKeyOf(path);
    const parsed = key === undefined || after === null ? undefined : parsePage(key, after);
    if (parsed?.success) for (const { citation } of parsed.page.sources) add(documentOf(citation), `page:${key}`);
  }
  for (const { artifact, documents } of tables) for (const document of documents) add(document, artifact);
  return found;
}
