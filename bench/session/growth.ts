import type { Stage } from "./stage.ts";

/** Costs of some work at growing sizes. */
export interface Growth {
  /** The quantity that grows. */
  of: string;
  sizes: readonly number[];
  /** Costs by name, with the unit in it. */
  measure(stage: Stage, size: number): Promise<Record<string, number>>;
}

/** The fastest of some tries: other programs only add to it. */
export async function fastest(work: () => Promise<unknown>, tries = 5): Promise<number> {
  let best = Infinity;
  for (let index = 0; index < tries; index += 1) {
    const from = performance.now();
    await work();
    best = Math.min(best, performance.now() - from);
  }
  return best;
}
