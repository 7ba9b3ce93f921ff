import { RequestError, isoNow, type Clock } from "@tandem/protocol";
import type { Records } from "@tandem/storage";
import { z } from "zod";
import type { TurnHook } from "../hooks/turn-hook.ts";
import { ENGINE_SPACE } from "./quota-registry.ts";

const KIND = "switch";
const KEY = "stop";
/** The polling interval for a stop by another server. */
const LOOK_MS = 1_000;

const halt = z.object({ at: z.string(), by: z.string(), reason: z.string().nullable() });
/** Author, time and reason of the stop. */
export type Halt = z.infer<typeof halt>;

/** The stop state. It is in the store, so it applies to all servers and after a restart. */
export class KillSwitch {
  readonly #records: Records;
  readonly #clock: Clock;
  readonly #working = new Set<AbortController>();

  constructor(records: Records, clock: Clock) {
    this.#records = records;
    this.#clock = clock;
  }

  async state(): Promise<Halt | undefined> {
    const found = await this.#records.get(ENGINE_SPACE, KIND, KEY);
    return found && halt.parse(found.value);
  }

  async engage(by: string, reason: string | null): Promise<Halt> {
    const value: Halt = { at: isoNow(this.#clock), by, reason };
    await this.#records.write(ENGINE_SPACE, [{ type: "put", kind: KIND, key: KEY, value }]);
    for (const work of this.#working) work.abort();
    return value;
  }

  async release(): Promise<void> {
    await this.#records.write(ENGINE_SPACE, [{ type: "delete", kind: KIND, key: KEY }]);
  }

  /** Throws before new work if everything is stopped. */
  async refuse(): Promise<void> {
    const found = await this.state();
    if (!found) return;
    throw new RequestError("conflict", haltText(found), {
      fix: "Undo it with `tandem stop --undo`, or POST /v1/resume.",
    });
  }

  /** Runs work outside turns and aborts it when everything is stopped, here or elsewhere. */
  async during<T>(work: (stopped: AbortSignal) => Promise<T>): Promise<T> {
    const stop = new AbortController();
    this.#working.add(stop);
    // While the store is unreachable, a stop cannot be seen.
    const look = (): void =>
      void this.state().then(
        (found) => found && stop.abort(),
        () => undefined,
      );
    const stopLooking = this.#clock.every(LOOK_MS, look);
    try {
      await this.refuse();
      return await work(stop.signal);
    } catch (error) {
      if (stop.signal.aborted) await this.refuse();
      throw error;
    } finally {
      stopLooking();
      this.#working.delete(stop);
    }
  }

  /** Turns that would resume by themselves end instead. */
  readonly turnHook: TurnHook = {
    before: async () => {
      await this.refuse();
      return [];
    },
  };
}

export const haltText = ({ at, by, reason }: Halt): string =>
  `Everything was stopped by ${by} at ${at}${reason ? `: ${reason.replace(/\.$/, "")}` : ""}.`;
