import type { ingest as ingestNow } from "./ingest/ingest.ts";
import type { planIngest as planIngestNow } from "./ingest/ingest-plan.ts";
import type { checkoutSource as checkoutNow } from "./sources/checkout-source.ts";
import type { openSource as open } from "./sources/open-source.ts";
import type { findJoins as findJoinsNow } from "./scan/find-joins.ts";
import type { planScan as planScanNow } from "./scan/plan-scan.ts";
import type { scan as scanNow } from "./scan/scan.ts";
import type { planEvals as planEvalsNow, runEvals as runEvalsNow } from "./evals/run-evals.ts";
import type { scrubContext as scrubNow } from "./scrub/scrub-context.ts";

// Scan, ingest and memory consist of a hundred files, which take longer to load than most queries run. Load them on
// demand.

export const scan: typeof scanNow = async (...args) => (await import("./scan/scan.ts")).scan(...args);

export const planScan: typeof planScanNow = async (...args) => (await import("./scan/plan-scan.ts")).planScan(...args);

export const findJoins: typeof findJoinsNow = async (...args) =>
  (await import("./scan/find-joins.ts")).findJoins(...args);

export const runEvals: typeof runEvalsNow = async (...args) => (await import("./evals/run-evals.ts")).runEvals(...args);

export const planEvals: typeof planEvalsNow = async (...args) =>
  (await import("./evals/run-evals.ts")).planEvals(...args);

export const scrubContext: typeof scrubNow = async (...args) =>
  (await import("./scrub/scrub-context.ts")).scrubContext(...args);

export const ingest: typeof ingestNow = async (...args) => (await import("./ingest/ingest.ts")).ingest(...args);

export const planIngest: typeof planIngestNow = async (...args) =>
  (await import("./ingest/ingest-plan.ts")).planIngest(...args);

/** Readers are loaded on first use. */
export const openSource: typeof open = (name, config, rules) => ({
  name,
  type: config.type,
  lists: config.type === "queries" ? "some" : "all",
  ...(config.connection && { connection: config.connection }),
  async *list(options) {
    const library = await import("./sources/open-source.ts");
    yield* library.openSource(name, config, rules).list(options);
  },
});

export const checkoutSource: typeof checkoutNow = async (...args) =>
  (await import("./sources/checkout-source.ts")).checkoutSource(...args);
