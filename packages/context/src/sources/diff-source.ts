import { TandemError } from "@tandem/protocol";
import { documentCitation } from "./citation.ts";
import type { Fetched, FetchedItem } from "./fetch-source.ts";
import type { Provenance } from "./provenance.ts";

export interface StagedItem extends FetchedItem {
  /** Citation of its document, `<source>/<path>`. Stable across runs, also for a moved file. */
  citation: string;
}

/** Changes since the last success. */
export interface SourceDiff {
  source: string;
  added: StagedItem[];
  changed: { item: StagedItem; before: Provenance }[];
  unchanged: { item: StagedItem; before: Provenance }[];
  /** Equal bytes under another path: no model request is needed. */
  renamed: { item: StagedItem; before: Provenance }[];
  deleted: Provenance[];
  /** Why missing items were not treated as deleted. */
  doubt?: TandemError;
}

export type DiffCounts = Record<"added" | "changed" | "unchanged" | "renamed" | "deleted", number>;

export const countsOf = ({ added, changed, unchanged, renamed, deleted }: SourceDiff): DiffCounts => ({
  added: added.length,
  changed: changed.length,
  unchanged: unchanged.length,
  renamed: renamed.length,
  deleted: deleted.length,
});

export function diffSource(fetched: Fetched, known: readonly Provenance[]): SourceDiff {
  const diff: SourceDiff = { source: fetched.source, added: [], changed: [], unchanged: [], renamed: [], deleted: [] };
  const before = new Map(known.map((entry) => [entry.path, entry]));
  const present = new Set(fetched.items.map(({ path }) => path));
  const missing = known.filter(
    ({ path }) => !present.has(path) && !fetched.hidden.some((hidden) => path.startsWith(hidden)),
  );
  const bySha = Map.groupBy(missing, ({ sha256 }) => sha256);
  const taken = new Set(known.map(({ citation }) => citation));

  for (const item of fetched.items) {
    const entry = before.get(item.path);
    if (entry) {
      const staged = { ...item, citation: entry.citation };
      if (entry.sha256 === item.sha256) diff.unchanged.push({ item: staged, before: entry });
      else diff.changed.push({ item: staged, before: entry });
      continue;
    }
    const from = bySha.get(item.sha256)?.shift();
    if (from) diff.renamed.push({ item: { ...item, citation: from.citation }, before: from });
    else {
      const citation = documentCitation(item, (key) => taken.has(key));
      taken.add(citation);
      diff.added.push({ ...item, citation });
    }
  }
  const moved = new Set(diff.renamed.map((entry) => entry.before));
  const deleted = missing.filter((entry) => !moved.has(entry));
  // Probably an unmounted disk.
  if (fetched.items.length === 0 && deleted.length > 0) diff.doubt = emptySource(fetched.source, deleted.length);
  else diff.deleted = deleted;
  return diff;
}

const emptySource = (source: string, count: number): TandemError =>
  new TandemError(
    "source_empty",
    `The source ${source} is empty, though ${count} documents were read from it before; none is taken as deleted.`,
    { fix: "Check its `path` and patterns; if they are meant to be gone, remove the source from tandem.yaml." },
  );
