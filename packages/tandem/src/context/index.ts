export { Databases } from "./databases.ts";
export { ingestSources } from "./ingest-sources.ts";
export { contextServers, serveContext, startMemoryCapture, type OpenedContext } from "./serve-context.ts";
