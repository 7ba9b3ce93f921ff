export type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

interface Waiting<Call> {
  call: Call;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Bounds the duration of one commit, and so the wait for the next. */
const MAX_BATCH = 200;

/** A serial queue that batches: calls that arrive while a batch runs form the next batch. */
export class BatchQueue<Call> {
  readonly #perform: (calls: Call[]) => Promise<Outcome[]>;
  #queue: Waiting<Call>[] = [];
  #busy = false;
  #whenIdle: (() => void)[] = [];

  /** `perform` returns one outcome per call, or rejects for the whole batch. */
  constructor(perform: (calls: Call[]) => Promise<Outcome[]>) {
    this.#perform = perform;
  }

  get idle(): boolean {
    return !this.#busy && this.#queue.length === 0;
  }

  /** Resolves when the queue is empty and idle. */
  drained(): Promise<void> {
    return this.idle ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  add(call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ call, resolve, reject });
      // Deferred, so that calls made synchronously one after another form one batch.
      queueMicrotask(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, MAX_BATCH);
      try {
        const outcomes = await this.#perform(group.map(({ call }) => call));
        for (const [index, { resolve, reject }] of group.entries()) {
          const outcome = outcomes[index]!;
          if (outcome.ok) resolve(outcome.value);
          else reject(outcome.error);
        }
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#busy = false;
    for (const resolve of this.#whenIdle.splice(0)) resolve();
  }
}
