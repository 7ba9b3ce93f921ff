import type { openSource as open } from "./sources/open-source.ts";

// Scan, ingest and memory consist of a hundred files, which take longer to load than most queries run. Load them on
// demand.

type Work = (...args: never[]) => Promise<unknown>;

/** A function whose module is loaded by its first call. */
const onDemand = <K extends string, M extends Record<K, Work>>(load: () => Promise<M>, name: K): M[K] =>
  (async (...args: never[]) => (await load())[name](...args)) as M[K];

export const scan = onDemand(() => import("./scan/scan.ts"), "scan");
export const planScan = onDemand(() => import("./scan/plan-scan.ts"), "planScan");
export const findJoins = onDemand(() => import("./scan/find-joins.ts"), "findJoins");
export const runEvals = onDemand(() => import("./evals/run-evals.ts"), "runEvals");
export const planEvals = onDemand(() => import("./evals/run-evals.ts"), "planEvals");
export const scrubContext = onDemand(() => import("./scrub/scrub-context.ts"), "scrubContext");
export const ingest = onDemand(() => import("./ingest/ingest.ts"), "ingest");
export const planIngest = onDemand(() => import("./ingest/ingest-plan.ts"), "planIngest");
export const checkoutSource = onDemand(() => import("./sources/checkout-source.ts"), "checkoutSource");

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
