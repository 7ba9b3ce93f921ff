import type { Run } from "../run-queue.ts";

/** What stands in the queue may have been written by another version; undefined if it is no run. */
export function readRun(data: unknown): Run | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const { kind, key, tenant, place, priority, traceparent }: Partial<Record<keyof Run, unknown>> = data;
  if (kind !== "session") return undefined;
  if (typeof key !== "string" || typeof tenant !== "string" || typeof place !== "string") return undefined;
  return {
    kind,
    key,
    tenant,
    place,
    priority: typeof priority === "number" ? priority : 0,
    ...(typeof traceparent === "string" && { traceparent }),
  };
}
