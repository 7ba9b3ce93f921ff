/** Events of the simulation: a binary heap by time. */
export class EventHeap<T> {
  readonly #items: { at: number; what: T }[] = [];

  push(at: number, what: T): void {
    const items = this.#items;
    items.push({ at, what });
    for (let child = items.length - 1; child > 0;) {
      const parent = (child - 1) >> 1;
      if (items[parent]!.at <= items[child]!.at) return;
      [items[parent], items[child]] = [items[child]!, items[parent]!];
      child = parent;
    }
  }

  pop(): { at: number; what: T } | undefined {
    const items = this.#items;
    const first = items[0];
    const last = items.pop();
    if (!first || !last || items.length === 0) return first;
    items[0] = last;
    for (let parent = 0; ;) {
      const left = 2 * parent + 1;
      if (left >= items.length) return first;
      const right = left + 1;
      const child = right < items.length && items[right]!.at < items[left]!.at ? right : left;
      if (items[parent]!.at <= items[child]!.at) return first;
      [items[parent], items[child]] = [items[child]!, items[parent]!];
      parent = child;
    }
  }
}
