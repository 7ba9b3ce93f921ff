import type { ScanContext, ScanResult } from "./scan-result.ts";

/** Names of the metrics that can be computed now. */
export async function usableMetrics({ metrics }: ScanContext, connection: string): Promise<ReadonlySet<string>> {
  const all = (await metrics?.list({ connection })) ?? [];
  return new Set(all.filter(({ broken }) => !broken).map(({ name }) => name));
}

/** Metrics that the catalogue no longer supports: a column, key or join has gone. */
export async function newlyBroken(
  { metrics }: ScanContext,
  connection: string,
  usable: ReadonlySet<string>,
): Promise<NonNullable<ScanResult["brokenMetrics"]>> {
  const all = (await metrics?.list({ connection })) ?? [];
  return all.flatMap(({ name, entity, broken }) =>
    broken && usable.has(name) ? [{ name, path: `metrics/${connection}/${entity}.yaml`, ...broken }] : [],
  );
}
