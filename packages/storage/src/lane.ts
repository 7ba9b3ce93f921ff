export type Outcome = { ok: true; value: unknown } | { ok: false; error: unknown };

interface Waiting<Call> {
  call: Call;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

/** Bounds how long one commit takes, and so how long the next one waits. */
const MOST_AT_ONCE = 200;

/** A queue whose calls are done in order, one group at a time: what comes while a group is under way makes up the next. */
export class Lane<Call> {
  readonly #perform: (calls: Call[]) => Promise<Outcome[]>;
  #queue: Waiting<Call>[] = [];
  #busy = false;
  #whenIdle: (() => void)[] = [];

  /** `perform` gives an outcome for each call, or rejects for all of them. */
  constructor(perform: (calls: Call[]) => Promise<Outcome[]>) {
    this.#perform = perform;
  }

  get idle(): boolean {
    return !this.#busy && this.#queue.length === 0;
  }

  /** Resolves when nothing is under way or waiting. */
  drained(): Promise<void> {
    return this.idle ? Promise.resolve() : new Promise((resolve) => this.#whenIdle.push(resolve));
  }

  add(call: Call): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#queue.push({ call, resolve, reject });
      // Not at once, so that calls made in one go are one group.
      queueMicrotask(() => void this.#run());
    });
  }

  async #run(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    while (this.#queue.length > 0) {
      const group = this.#queue.splice(0, MOST_AT_ONCE);
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
