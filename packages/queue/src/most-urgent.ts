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
 * Chooses the next run, in both queues: highest priority, then the tenant with the fewest running runs, then the tenant
 * that waited longest for its turn, then the oldest run.
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

/** The next runs in the order in which they would be taken one by one. */
export function nextOf<C extends Candidate>(
  candidates: readonly C[],
  count: number,
  limitOf?: (tenant: string) => number,
): C[] {
  const left = candidates.map((candidate) => ({ ...candidate }));
  const next: C[] = [];
  for (let first = mostUrgent(left, limitOf); first && next.length < count; first = mostUrgent(left, limitOf)) {
    const { kind, tenant } = first;
    next.push(first);
    left.splice(left.indexOf(first), 1);
    for (const other of left.filter((candidate) => candidate.tenant === tenant)) {
      if (kind === "session") other.busy += 1;
      other.served = Infinity;
    }
  }
  return next;
}
