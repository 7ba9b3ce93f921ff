import type { IngestReport } from "@tandem/protocol";

export const emptyReport = (): IngestReport => ({
  sources: [],
  documents: { skip: 0, light: 0, full: 0, failed: 0, left: 0 },
  units: { done: 0, budget: 0, partly: [], failed: [] },
  candidates: { candidates: 0, groups: 0, promoted: 0, merged: 0, rejected: 0, deferred: 0 },
  reconciled: { contradictions: 0, evicted: 0, kept: 0, merges: 0, failed: null },
  gates: { checked: 0, mended: 0, dropped: 0 },
  pages: { added: 0, changed: 0, removed: 0 },
  tables: 0,
  metrics: 0,
  proposals: [],
});

/** Adds counts by name. */
export function addCounts<T extends Record<string, unknown>>(into: T, counts: { [K in keyof T]?: number }): void {
  for (const [name, count] of Object.entries(counts)) {
    if (typeof count === "number") Object.assign(into, { [name]: Number(into[name] ?? 0) + count });
  }
}
