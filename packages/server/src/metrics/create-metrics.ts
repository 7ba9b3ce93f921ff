import type { ServerMetrics, MetricSources } from "./server-metrics.ts";

/** Loads OpenTelemetry only in processes that are scraped. */
export async function createMetrics(version: string, sources: MetricSources): Promise<ServerMetrics> {
  const { ServerMetrics } = await import("./server-metrics.ts");
  return new ServerMetrics(version, sources);
}
