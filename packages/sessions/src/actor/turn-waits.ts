/** Waits for a session to become idle, or for its turn to be between two steps. */
export class TurnWaits {
  #idle: (() => void)[] = [];
  #step: (() => void)[] = [];

  idle(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle.push(resolve);
    return promise;
  }

  /** Resolves between two steps, at idle, or at the deadline. */
  step(late: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#idle.push(resolve);
    this.#step.push(resolve);
    late.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  }

  tellIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve();
  }

  tellStep(): void {
    for (const resolve of this.#step.splice(0)) resolve();
  }
}
