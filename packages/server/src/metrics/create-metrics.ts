import type { Metrics, MetricSources } from "./metrics.ts";

/** Loads OpenTelemetry only in processes that are scraped. */
export async function createMetrics(version: string, sources: MetricSources): Promise<Metrics> {
  const { Metrics } = await import("./metrics.ts");
  return new Metrics(version, sources);
}
