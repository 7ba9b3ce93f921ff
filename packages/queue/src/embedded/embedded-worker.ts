import type { Working, WorkOptions } from "../run-queue.ts";
import type { RunSource, RunUnderWay } from "./run-source.ts";

export class EmbeddedWorker implements Working {
  readonly #queue: RunSource;
  readonly #places: Set<string>;
  readonly #options: WorkOptions;
  readonly #underWay = new Set<RunUnderWay>();
  readonly #served = new Map<string, number>();
  #paused = false;
  #onIdle = (): void => {};

  constructor(queue: RunSource, options: WorkOptions) {
    this.#queue = queue;
    this.#places = new Set(options.places);
    this.#options = options;
  }

  takeOne(): boolean {
    if (this.#paused || this.#underWay.size >= this.#options.capacity()) return false;
    const { tenants } = this.#options;
    const taken = this.#queue.take(
      ({ place, tenant }) => this.#places.has(place) && (!tenants || tenants.includes(tenant)),
      this.#served,
    );
    if (!taken) return false;
    this.#underWay.add(taken);
    void this.#run(taken);
    return true;
  }

  async #run(taken: RunUnderWay): Promise<void> {
    // Never synchronously within `send`: a sender must not wait for the start of its run.
    await Promise.resolve();
    try {
      await this.#options.handle(taken.run, taken.abort.signal);
      this.#queue.end(taken);
    } catch (error) {
      this.#queue.fail(taken, error);
    }
    this.#underWay.delete(taken);
    if (this.#underWay.size === 0) this.#onIdle();
    this.#queue.look();
  }

  async serve(place: string): Promise<void> {
    this.#places.add(place);
    this.#queue.look();
  }

  look(): void {
    this.#queue.look();
  }

  async pause(): Promise<void> {
    this.#paused = true;
  }

  async stop(deadlineMs: number): Promise<void> {
    this.#paused = true;
    if (this.#underWay.size > 0 && deadlineMs > 0) {
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
        timer = setTimeout(resolve, deadlineMs);
      });
      clearTimeout(timer);
    }
    for (const taken of this.#underWay) this.#queue.returnToQueue(taken);
    this.#queue.workers.delete(this);
    this.#queue.look();
  }
}
