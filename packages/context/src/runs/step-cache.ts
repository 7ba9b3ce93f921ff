import type { Records } from "@tandem/storage";
import type { z } from "zod";
import { hashOf } from "../hash-of.ts";

export const STEP_KIND = "step";

/** Cache of expensive results by their inputs, shared by all runs of a context. */
export class StepCache {
  readonly #records: Records;
  readonly #space: string;
  readonly #underWay = new Map<string, Promise<unknown>>();
  /** Number of cache hits. */
  hits = 0;

  constructor(records: Records, space: string) {
    this.#records = records;
    this.#space = space;
  }

  async step<S extends z.ZodType>(
    kind: string,
    inputs: unknown,
    schema: S,
    compute: () => Promise<z.input<S>>,
  ): Promise<z.output<S>> {
    const key = `${kind}/${hashOf([kind, inputs])}`;
    const underWay = this.#underWay.get(key);
    if (underWay) {
      const value = await underWay;
      this.hits += 1;
      return schema.parse(value);
    }
    const work = this.#find(key, schema, compute);
    this.#underWay.set(key, work);
    try {
      return schema.parse(await work);
    } finally {
      this.#underWay.delete(key);
    }
  }

  async #find<S extends z.ZodType>(key: string, schema: S, compute: () => Promise<z.input<S>>): Promise<unknown> {
    const stored = await this.#records.get(this.#space, STEP_KIND, key);
    // A result in the format of an older version is computed again.
    if (stored && schema.safeParse(stored.value).success) {
      this.hits += 1;
      return stored.value;
    }
    const value = await compute();
    // Reject an invalid result before storing it.
    schema.parse(value);
    await this.#records.write(this.#space, [{ type: "put", kind: STEP_KIND, key, value }]);
    return value;
  }
}
