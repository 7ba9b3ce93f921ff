import { z } from "zod";

// The progress and the results of jobs. The job writes them, and commands and the page read them, also those of 0.1.0.

export const jobProgress = z
  .object({
    stage: z.string().nullable(),
    done: z.int(),
    total: z.int().nullable(),
    item: z.string().nullable(),
    skipped: z.int(),
    spent: z.object({
      requests: z.int(),
      cached: z.int(),
      usd: z.number().nullable().meta({ description: "At list price; null if a model's price is unknown." }),
    }),
  })
  .meta({ id: "JobProgress", description: "The latest stage of a job, and its counts so far." });
export type JobProgress = z.infer<typeof jobProgress>;

const proposed = z.object({ id: z.string(), title: z.string(), accepted: z.int(), open: z.int() });

const privacyReport = z.object({
  /** Detected as personal data and stored as shapes. */
  personal: z.array(z.object({ column: z.string(), kind: z.string() })),
  /** Columns stored as shapes or not at all because of `scan.samples`. */
  configured: z.int(),
  /** Patterns of `scan.samples` for this connection that match no column. */
  unmatchedPatterns: z.array(z.string()),
});
export type PrivacyReport = z.infer<typeof privacyReport>;

export const scanResult = z.object({
  connection: z.string(),
  /** `changed`: columns or keys differ from the catalogue. */
  tables: z.object({ seen: z.int(), added: z.int(), changed: z.int(), gone: z.int() }),
  /** Null if joins could not be checked. */
  joins: z.object({ accepted: z.int(), review: z.int() }).nullable(),
  /** Null if no model was used. `unknown`: entries that were not requested. */
  descriptions: z.object({ described: z.int(), cached: z.int(), incomplete: z.int(), unknown: z.int() }).nullable(),
  /** Columns whose values are not stored. Absent in results of 0.1.0. */
  privacy: privacyReport.optional(),
  /** Metrics that were usable before the scan. Absent in results of 0.1.0. */
  brokenMetrics: z
    .array(z.object({ name: z.string(), path: z.string(), message: z.string(), fix: z.string().optional() }))
    .optional(),
  proposals: z.array(proposed),
});
export type ScanResult = z.infer<typeof scanResult>;

const proposedLine = proposed.extend({
  /** Questions to a person. */
  decisions: z.int(),
  quarantine: z.string().nullable(),
});
/** The proposal of an ingest. */
export type ProposedLine = z.infer<typeof proposedLine>;

export const ingestReport = z.object({
  sources: z.array(
    z.object({
      name: z.string(),
      added: z.int(),
      changed: z.int(),
      unchanged: z.int(),
      renamed: z.int(),
      deleted: z.int(),
    }),
  ),
  /** Documents by triage result. `left`: not reached. */
  documents: z.object({ skip: z.int(), light: z.int(), full: z.int(), failed: z.int(), left: z.int() }),
  units: z.object({
    done: z.int(),
    budget: z.int(),
    /** Their work is kept, and some of their tool calls failed. */
    partly: z.array(
      z.object({
        unit: z.string(),
        calls: z.array(z.object({ tool: z.string(), target: z.string(), message: z.string() })),
      }),
    ),
    failed: z.array(z.object({ unit: z.string(), message: z.string() })),
  }),
  candidates: z.object({
    candidates: z.int(),
    groups: z.int(),
    promoted: z.int(),
    merged: z.int(),
    rejected: z.int(),
    deferred: z.int(),
  }),
  reconciled: z.object({
    contradictions: z.int(),
    evicted: z.int(),
    kept: z.int(),
    merges: z.int(),
    failed: z.string().nullable(),
  }),
  /** Pages. */
  gates: z.object({ checked: z.int(), mended: z.int(), dropped: z.int() }),
  pages: z.object({ added: z.int(), changed: z.int(), removed: z.int() }),
  tables: z.int(),
  /** Metrics files. */
  metrics: z.int(),
  proposals: z.array(proposedLine),
});
export type IngestReport = z.infer<typeof ingestReport>;

/** The memories of a session. */
export const capturedMemories = z.object({
  session: z.string(),
  /** Parts read by an agent; 0 if there was nothing new. */
  parts: z.int(),
  found: z.int(),
  proposals: z.array(z.string()),
  accepted: z.int(),
});
export type CapturedMemories = z.infer<typeof capturedMemories>;

const capturedText = z.object({
  /** An existing memory with the same statement. */
  known: z.string().optional(),
  /** An earlier proposal of the same statement. */
  before: z.string().optional(),
  proposals: z.array(z.string()),
  contradicts: z.array(z.string()),
  unchecked: z.string().optional(),
});
/** The memory that an agent handed in as a text. */
export type CapturedText = z.infer<typeof capturedText>;
