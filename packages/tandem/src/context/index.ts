export { ingestSources, type GivenDocuments } from "./ingest-sources.ts";
export { sourceAccess } from "./source-access.ts";
export { planIngest, planScan, type PricedPlan } from "./plan-job.ts";
export { contextServers, serveContext, startMemoryCapture, type OpenedContext } from "./serve-context.ts";
