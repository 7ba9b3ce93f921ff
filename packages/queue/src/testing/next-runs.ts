import { type Candidate, mostUrgent } from "../most-urgent.ts";

/** The runs that `mostUrgent` would choose one after another. */
export function nextRuns<C extends Candidate>(
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
