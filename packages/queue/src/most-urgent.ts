import type { Run } from "./run-queue.ts";

/** A run that can be taken now. */
export interface Candidate {
  kind: Run["kind"];
  tenant: string;
  priority: number;
  /** Time of sending. */
  since: number;
  /** Running sessions of its tenant, over all workers. */
  busy: number;
  /** When this worker last took a run of this tenant; 0 for never. With a capacity of one, tenants take turns by it. */
  served: number;
}

/**
 * Chooses the next run: highest priority, then the tenant with the fewest running runs, then the tenant
 * that waited longest for its turn, then the oldest run. The statement `take` of Postgres has the same order.
 */
export function mostUrgent<C extends Candidate>(
  candidates: readonly C[],
  limitOf: (tenant: string) => number = () => Infinity,
): C | undefined {
  const allowed = candidates.filter(({ kind, tenant, busy }) => kind === "job" || busy < limitOf(tenant));
  return allowed.toSorted(
    (a, b) => b.priority - a.priority || a.busy - b.busy || a.served - b.served || a.since - b.since,
  )[0];
}
