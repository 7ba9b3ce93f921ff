import type { z } from "zod";
import { canonicalJson } from "@tandem/protocol";
import type { Run } from "./job-run.ts";

interface Steps<T, S extends z.ZodType> {
  kind: string;
  schema: S;
  items: readonly T[];
  /** Everything an item's result depends on. */
  inputsOf: (item: T) => unknown;
  /** Called for items with a stored result, or with the same inputs as another item. */
  onStored: (item: T, result: z.output<S>) => void;
  /** Called once with the remaining items. Each result is stored when given to `keep`; an item may stay without one. */
  compute: (missing: readonly T[], keep: (item: T, result: z.input<S>) => void) => Promise<void>;
}

class NoResult extends Error {}

/**
 * Steps that are cached one by one and computed in a batch: looks up all first, then computes the missing ones
 * together. A killed run keeps the stored results.
 */
export async function stepTogether<T, S extends z.ZodType>(run: Run, steps: Steps<T, S>): Promise<void> {
  const { kind, schema, items, inputsOf, onStored, compute } = steps;
  const alike = Map.groupBy(items, (item) => canonicalJson(inputsOf(item)));
  const missing = new Map<T, PromiseWithResolvers<z.input<S>>>();
  const allLookedUp = Promise.withResolvers<void>();
  let looking = alike.size;
  const lookedUp = () => {
    looking -= 1;
    if (looking === 0) allLookedUp.resolve();
  };

  // One per distinct input: a second step would wait for the first, which waits until all were looked up (deadlock).
  const lookUp = async (group: readonly T[]) => {
    const [item, ...twins] = group as [T, ...T[]];
    try {
      const result = await run.step(kind, inputsOf(item), schema, () => {
        const awaited = Promise.withResolvers<z.input<S>>();
        missing.set(item, awaited);
        lookedUp();
        return awaited.promise;
      });
      for (const other of missing.has(item) ? twins : [item, ...twins]) onStored(other, result);
    } catch (error) {
      if (!(error instanceof NoResult)) throw error;
    } finally {
      if (!missing.has(item)) lookedUp();
    }
  };

  const computeMissing = async () => {
    await allLookedUp.promise;
    const rest = (reason: unknown) => {
      for (const awaited of missing.values()) awaited.reject(reason);
    };
    if (missing.size === 0) return;
    // In the order of the items: lookups end in any order, and equal batches should give equal prompts.
    const batch = [...alike.values()].flatMap(([first]) => (first !== undefined && missing.has(first) ? [first] : []));
    await compute(batch, (item, result) => missing.get(item)?.resolve(result)).then(
      () => rest(new NoResult()),
      (error: unknown) => {
        rest(error);
        throw error;
      },
    );
  };

  if (items.length === 0) return;
  const outcomes = await Promise.allSettled([computeMissing(), ...[...alike.values()].map(lookUp)]);
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}
