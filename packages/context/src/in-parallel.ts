/** Does the work for each item, so many at once, in their order. The first rejection ends it; no item is begun after it. */
export async function inParallel<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T, index: number) => Promise<void>,
): Promise<void> {
  let next = 0;
  let failed = false;
  const worker = async () => {
    while (next < items.length && !failed) {
      const index = next++;
      try {
        await work(items[index]!, index);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const workers = await Promise.allSettled(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  for (const outcome of workers) if (outcome.status === "rejected") throw outcome.reason;
}
