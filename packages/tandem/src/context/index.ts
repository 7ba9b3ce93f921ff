export { ingestSources, type GivenDocuments } from "./ingest-sources.ts";
export { contextServers, serveContext, startMemoryCapture, type OpenedContext } from "./serve-context.ts";
