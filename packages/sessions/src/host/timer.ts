/** One thing to do later; setting it again forgets the former. */
export class Timer {
  #timer: NodeJS.Timeout | undefined;

  /** `holds` keeps the process alive until then. */
  set(ms: number, ring: () => void, holds = false): void {
    this.clear();
    this.#timer = setTimeout(ring, ms);
    if (!holds) this.#timer.unref();
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
