/** Limits of one call: number of items, and totals of other measures. */
export type BatchLimits<Measure extends string> = Readonly<Record<Measure | "items", number>>;

/** Fills batches in order up to the limits. An item that exceeds a limit by itself is alone. */
export function inBatches<T, Measure extends string>(
  items: readonly T[],
  limits: BatchLimits<Measure>,
  sizeOf: (item: T) => Readonly<Record<Exclude<Measure, "items">, number>>,
): T[][] {
  const batches: T[][] = [];
  let room: Record<string, number> = { items: 0 };
  for (const item of items) {
    const size: Record<string, number> = { ...sizeOf(item), items: 1 };
    const fits = Object.entries(size).every(([measure, amount]) => (room[measure] ?? 0) >= amount);
    if (!fits) {
      batches.push([]);
      room = { ...limits };
    }
    batches.at(-1)!.push(item);
    for (const [measure, amount] of Object.entries(size)) room[measure] = (room[measure] ?? 0) - amount;
  }
  return batches;
}
