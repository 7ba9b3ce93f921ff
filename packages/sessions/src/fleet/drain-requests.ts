import { isoNow, type Clock } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import { z } from "zod";
import { FLEET_SPACE } from "./fleet-space.ts";

const KIND = "drain";
const drainRequest = z.object({ by: z.string(), at: z.string() });

/** Drain requests for workers. The caller stores them here, and the worker finds its own with its next heartbeat. */
export class DrainRequests {
  readonly #records: Records;
  readonly #clock: Clock;

  constructor(records: Records, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  async ask(worker: string, by: string): Promise<void> {
    const value = { by, at: isoNow(this.#clock) };
    await this.#records.write(FLEET_SPACE, [{ type: "put", kind: KIND, key: worker, value }]);
  }

  /** The caller's name. */
  async of(worker: string): Promise<{ by: string; at: string } | undefined> {
    const found = await this.#records.get(FLEET_SPACE, KIND, worker);
    return found && drainRequest.parse(found.value);
  }

  /** Clears the request after the worker has left. */
  async forget(worker: string): Promise<void> {
    await this.#records.write(FLEET_SPACE, [{ type: "delete", kind: KIND, key: worker }]);
  }
}
