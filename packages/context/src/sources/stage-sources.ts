import type { Run } from "../runs/job-run.ts";
import type { ContextStore } from "./context-store.ts";
import { diffSource, type SourceDiff } from "./diff-source.ts";
import { fetchSource } from "./fetch-source.ts";
import { readProvenance } from "./provenance.ts";
import type { Source } from "./source.ts";

const STAGE = "fetch";

/**
 * Reads the sources, stores the raw bytes of each item by hash, and compares with the last ingest. Calls no model.
 * Idempotent for a resumed run.
 */
export async function stageSources(run: Run, store: ContextStore, sources: readonly Source[]): Promise<SourceDiff[]> {
  run.emit({ type: "stage_started", stage: STAGE, total: null });
  const counts = { added: 0, changed: 0, unchanged: 0, renamed: 0, deleted: 0, skipped: 0, ignored: 0 };
  const diffs: SourceDiff[] = [];
  let done = 0;
  for (const source of sources) {
    const fetched = await fetchSource(source, {
      keep: (bytes) => store.blobs.put(store.space, bytes),
      signal: run.signal,
      onEntry: (path) => {
        done += 1;
        run.emit({ type: "stage_progress", stage: STAGE, done, total: null, item: `${source.name}/${path}` });
      },
    });
    for (const { path, error } of fetched.skipped) run.skip(STAGE, nameOf(source.name, path), error);
    const diff = diffSource(fetched, await readProvenance(store, source.name));
    if (diff.doubt) run.skip(STAGE, source.name, diff.doubt);
    const value = Object.fromEntries(fetched.items.map(({ path, sha256 }) => [path, sha256]));
    await store.records.write(store.space, [
      { type: "put", kind: "manifest", key: `${run.job}/${source.name}`, value },
    ]);
    for (const kind of ["added", "changed", "unchanged", "renamed", "deleted"] as const)
      counts[kind] += diff[kind].length;
    counts.skipped += fetched.skipped.length;
    counts.ignored += fetched.ignored;
    diffs.push(diff);
  }
  run.emit({ type: "stage_finished", stage: STAGE, counts });
  return diffs;
}

const nameOf = (source: string, path: string): string => (path === "" ? source : `${source}/${path}`);
