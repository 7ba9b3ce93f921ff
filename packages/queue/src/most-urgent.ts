/** A run that could be taken now. */
export interface Candidate {
  tenant: string;
  priority: number;
  /** When it was sent. */
  since: number;
  /** Runs of its tenant that are under way, in all workers. */
  busy: number;
  /** When this worker last took one of its tenant's; 0 for never. Where there is room for one only, tenants take turns. */
  served: number;
}

/**
 * Which of them is next, under either queue: the highest priority; then of the tenant with the fewest under way; then of the
 * one that has waited longest for its turn; then the oldest.
 */
export function mostUrgent<C extends Candidate>(
  candidates: readonly C[],
  limitOf: (tenant: string) => number = () => Infinity,
): C | undefined {
  const allowed = candidates.filter(({ tenant, busy }) => busy < limitOf(tenant));
  return allowed.toSorted(
    (a, b) => b.priority - a.priority || a.busy - b.busy || a.served - b.served || a.since - b.since,
  )[0];
}
