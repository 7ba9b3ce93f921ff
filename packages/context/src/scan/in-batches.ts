export interface BatchLimits {
  items: number;
  /** Characters of one prompt's data. */
  characters: number;
  /** Columns of one call: an answer grows with them. */
  columns: number;
}

/** Fills batches in order, each as full as the limits allow. What is beyond a limit by itself goes alone. */
export function inBatches<T>(
  items: readonly T[],
  limits: BatchLimits,
  sizeOf: (item: T) => { characters: number; columns: number },
): T[][] {
  const batches: T[][] = [];
  let room: BatchLimits = { items: 0, characters: 0, columns: 0 };
  for (const item of items) {
    const { characters, columns } = sizeOf(item);
    if (room.items < 1 || room.characters < characters || room.columns < columns) {
      batches.push([]);
      room = limits;
    }
    batches.at(-1)!.push(item);
    room = {
      items: room.items - 1,
      characters: room.characters - characters,
      columns: room.columns - columns,
    };
  }
  return batches;
}
