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

/** The next few, as they would be taken one after the other. */
export function nextOf<C extends Candidate>(
  candidates: readonly C[],
  count: number,
  limitOf?: (tenant: string) => number,
): C[] {
  const left = candidates.map((candidate) => ({ ...candidate }));
  const next: C[] = [];
  for (let first = mostUrgent(left, limitOf); first && next.length < count; first = mostUrgent(left, limitOf)) {
    const { tenant } = first;
    next.push(first);
    left.splice(left.indexOf(first), 1);
    for (const other of left.filter((candidate) => candidate.tenant === tenant)) {
      other.busy += 1;
      other.served = Infinity;
    }
  }
  return next;
}
