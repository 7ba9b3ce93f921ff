import type { Records } from "@tandem/storage";
import { z } from "zod";
import { FLEET_SPACE } from "./fleet-space.ts";

const KIND = "drain";
const wish = z.object({ by: z.string(), at: z.string() });

/** Workers that somebody wants to be rid of: written down here by whoever asks, and found by the worker at its next beat. */
export class DrainRequests {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async ask(worker: string, by: string): Promise<void> {
    const value = { by, at: new Date().toISOString() };
    await this.#records.write(FLEET_SPACE, [{ type: "put", kind: KIND, key: worker, value }]);
  }

  /** Who wants it to go. */
  async of(worker: string): Promise<{ by: string; at: string } | undefined> {
    const found = await this.#records.get(FLEET_SPACE, KIND, worker);
    return found && wish.parse(found.value);
  }

  /** It has gone. */
  async forget(worker: string): Promise<void> {
    await this.#records.write(FLEET_SPACE, [{ type: "delete", kind: KIND, key: worker }]);
  }
}
