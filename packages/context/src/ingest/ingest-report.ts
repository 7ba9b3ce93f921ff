import type { Curated } from "./curate/curate.ts";
import type { Proposed } from "./propose/propose-line.ts";
import type { Reconciled } from "./reconcile/reconcile.ts";
import type { FailedCall } from "./workbench/failed-calls.ts";
import type { DiffCounts } from "../sources/diff-source.ts";

/** Result of an ingest job. */
export interface IngestReport {
  sources: (DiffCounts & { name: string })[];
  /** Documents by triage result. `left`: not reached. */
  documents: { skip: number; light: number; full: number; failed: number; left: number };
  units: {
    done: number;
    budget: number;
    /** Their work is kept, and some of their tool calls failed. */
    partly: { unit: string; calls: FailedCall[] }[];
    failed: { unit: string; message: string }[];
  };
  candidates: Curated["counts"];
  reconciled: Reconciled["counts"] & { failed: string | null };
  /** Pages. */
  gates: { checked: number; mended: number; dropped: number };
  pages: { added: number; changed: number; removed: number };
  tables: number;
  /** Metrics files. */
  metrics: number;
  proposals: Proposed[];
}

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
