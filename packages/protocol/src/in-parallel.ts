/**
 * Maps items with at most `concurrency` calls running at once; results are in the order of the items. After the first
 * rejection no further call starts, and the rejection is thrown when the running calls have settled.
 */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      try {
        results[index] = await work(items[index]!, index);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(concurrency, items.length) }, worker));
  for (const outcome of workers) if (outcome.status === "rejected") throw outcome.reason;
  return results;
}
