/** Fills batches in order, each as full as the limits allow. What is beyond a limit by itself goes alone. */
export function inBatches<T>(
  items: readonly T[],
  limits: { pages: number; characters: number },
  lengthOf: (item: T) => number,
): T[][] {
  const batches: T[][] = [];
  let room = { pages: 0, characters: 0 };
  for (const item of items) {
    const length = lengthOf(item);
    if (room.pages < 1 || room.characters < length) {
      batches.push([]);
      room = limits;
    }
    batches.at(-1)!.push(item);
    room = { pages: room.pages - 1, characters: room.characters - length };
  }
  return batches;
}
