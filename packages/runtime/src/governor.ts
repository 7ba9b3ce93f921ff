import { LlmError } from "@tandem/protocol";
import type { Clock } from "./clock.ts";
import { systemClock } from "./clock.ts";
import type { Attempt } from "./llm-backend.ts";
import type { Wait } from "./llm-runtime.ts";
import { type Slot, Slots } from "./slots.ts";

// The first pause is up to a second, each further one up to twice as long, none longer than a minute: long enough for
// an overload to pass, short enough that a person still watches.
const FIRST_BACKOFF_MS = 1_000;
const LONGEST_BACKOFF_MS = 60_000;

// The service's clock and ours differ a little: a request sent at the very second of the reset is refused again.
const RESET_MARGIN_MS = 1_000;

export interface GovernedCall {
  /** The runtime's part of one LLM operation, however many model requests it takes. */
  attempt: Attempt;
  /**
   * Runs the caller's own code in the middle of an attempt, which does without its slot meanwhile: the code may make
   * calls that need one, and a slot is only ever held by what waits for the service.
   */
  aside: <T>(work: () => Promise<T>) => Promise<T>;
  /** Tries that came after a failed one. */
  readonly retries: number;
  /** Time spent in waits so far. */
  readonly waitedMs: number;
}

/** An attempt under way. */
interface Trial {
  number: number;
  /** Undefined while it does without. */
  slot: Slot | undefined;
  /** How many pieces of the caller's code run aside. */
  aside: number;
  /** While it waits to have a slot again. */
  returning: Promise<void> | undefined;
}

/** What is known about quotas beyond this runtime: by other processes on the same account. */
export interface SharedQuotas {
  /** Until when nobody need ask a model; undefined if it may be asked now. */
  until(model: string): Promise<Date | undefined>;
  /** Tells the others. */
  learned(resetsAt: Date): Promise<void>;
}

interface CallTerms {
  /** The model that is asked. */
  model: string;
  signal: AbortSignal;
  /** How long this call may wait for quotas, all waits together. */
  patienceMs: number;
  onWait: (wait: Wait) => void;
}

/**
 * The one owner of retries, waits for quotas and concurrency, shared by all calls of a runtime. What one call learns
 * about a quota or an overload holds for all of them.
 */
export class Governor {
  readonly #attempts: number;
  readonly #slots: Slots;
  readonly #clock: Clock;
  readonly #shared: SharedQuotas | undefined;
  #pausedUntil = 0;

  constructor(limits: { concurrency: number; attempts: number }, clock: Clock = systemClock, shared?: SharedQuotas) {
    this.#shared = shared;
    this.#attempts = limits.attempts;
    this.#slots = new Slots(limits.concurrency);
    this.#clock = clock;
  }

  /** How many operations may run at once just now. */
  get concurrency(): number {
    return this.#slots.limit;
  }

  begin({ model, signal, patienceMs, onWait }: CallTerms): GovernedCall {
    let retries = 0;
    let waitedMs = 0;
    let patienceLeft = patienceMs;
    let trial: Trial | undefined;

    const waitFor = async <T>(wait: Wait, end: () => Promise<T>): Promise<T> => {
      const since = this.#clock.now();
      onWait(wait);
      try {
        return await end();
      } finally {
        waitedMs += this.#clock.now() - since;
      }
    };

    const sleep = (wait: Wait & { until: Date }) => {
      const milliseconds = Math.max(0, wait.until.getTime() - this.#clock.now());
      return waitFor(wait, () => this.#clock.sleep(milliseconds, signal));
    };

    const waitForQuota = async (until: number, attempt: number) => {
      patienceLeft -= until - this.#clock.now();
      await sleep({ reason: "quota", until: new Date(until), attempt });
    };

    const takeSlot = (attempt: number): Promise<Slot> => {
      const take = () => this.#slots.take(signal);
      return this.#slots.full ? waitFor({ reason: "concurrency", attempt }, take) : take();
    };

    /** Others may have found a quota used up before this call came, or while it stood in line. */
    const enter = async (attempt: number) => {
      for (;;) {
        for (;;) {
          const elsewhere = this.#shared ? await this.#knownElsewhere(this.#shared, model) : 0;
          const until = Math.max(this.#pausedUntil, elsewhere);
          if (until <= this.#clock.now()) break;
          if (!this.#isWithin(patienceLeft, until)) throw usedUp(new Date(until));
          await waitForQuota(until, attempt);
        }
        const slot = await takeSlot(attempt);
        if (this.#pausedUntil <= this.#clock.now()) return slot;
        this.#slots.giveBack();
      }
    };

    const tryOnce = async <T>(operation: (attempt: number) => Promise<T>, attempt: number): Promise<T> => {
      const own: Trial = { number: attempt, slot: await enter(attempt), aside: 0, returning: undefined };
      trial = own;
      try {
        const result = await operation(attempt);
        this.#slots.succeeded();
        return result;
      } catch (error) {
        const refused = error instanceof LlmError && (error.code === "rate_limited" || error.code === "overloaded");
        if (refused && own.slot) this.#slots.pushedBack(own.slot);
        throw error;
      } finally {
        trial = undefined;
        if (own.slot) this.#slots.giveBack();
      }
    };

    const comeBack = async (own: Trial) => {
      try {
        const slot = await takeSlot(own.number);
        // It may have ended by now, or gone aside again.
        if (trial === own && own.aside === 0) own.slot = slot;
        else this.#slots.giveBack();
      } catch {
        // Only an abort gets here, and that ends the attempt by itself.
      } finally {
        own.returning = undefined;
      }
    };

    const aside = async <T>(work: () => Promise<T>): Promise<T> => {
      const own = trial;
      if (!own) return work();
      own.aside += 1;
      if (own.slot) {
        own.slot = undefined;
        this.#slots.giveBack();
      }
      try {
        return await work();
      } finally {
        own.aside -= 1;
        if (trial === own && own.aside === 0) await (own.returning ??= comeBack(own));
      }
    };

    const attempt: Attempt = async (operation) => {
      let transientFailures = 0;
      for (let number = 1; ; number += 1) {
        try {
          return await tryOnce(operation, number);
        } catch (error) {
          if (!(error instanceof LlmError) || signal.aborted) throw error;
          const quotaUntil = this.#endOfQuota(error);
          if (quotaUntil !== undefined) {
            void this.#shared?.learned(new Date(quotaUntil - RESET_MARGIN_MS)).catch(() => undefined);
            if (!this.#isWithin(patienceLeft, quotaUntil)) throw error;
            this.#pausedUntil = Math.max(this.#pausedUntil, quotaUntil);
            await waitForQuota(quotaUntil, number + 1);
          } else {
            transientFailures += 1;
            const pause = this.#pauseAfter(error, transientFailures);
            if (pause === undefined || transientFailures >= this.#attempts) throw error;
            const until = new Date(this.#clock.now() + pause);
            await sleep({
              reason: error.code === "overloaded" ? "overloaded" : "transient",
              until,
              attempt: number + 1,
            });
          }
          retries += 1;
        }
      }
    };

    return {
      attempt: async (operation) => {
        try {
          return await attempt(operation);
        } catch (error) {
          if (signal.aborted && !(error instanceof LlmError && error.code === "aborted")) {
            throw new LlmError("aborted", "The call was aborted.", { cause: error });
          }
          throw error;
        }
      },
      aside,
      get retries() {
        return retries;
      },
      get waitedMs() {
        return waitedMs;
      },
    };
  }

  /** Until when others know a quota of this model's to be used up. Where they cannot be asked, the service is. */
  async #knownElsewhere(shared: SharedQuotas, model: string): Promise<number> {
    const until = await shared.until(model).catch(() => undefined);
    return until ? until.getTime() + RESET_MARGIN_MS : 0;
  }

  #isWithin(patienceLeft: number, until: number): boolean {
    return until - this.#clock.now() <= patienceLeft;
  }

  /** A quota with a time at which it resets is waited for by patience; everything else by backoff. */
  #endOfQuota(error: LlmError): number | undefined {
    if (error.code !== "rate_limited") return undefined;
    const now = this.#clock.now();
    if (error.resetsAt && error.resetsAt.getTime() > now) return error.resetsAt.getTime() + RESET_MARGIN_MS;
    if (!error.resetsAt && (error.retryAfterMs ?? 0) > LONGEST_BACKOFF_MS) return now + (error.retryAfterMs ?? 0);
    return undefined;
  }

  /** Undefined where trying again cannot help, or not soon. */
  #pauseAfter(error: LlmError, failures: number): number | undefined {
    if (!error.transient && error.code !== "rate_limited") return undefined;
    if (error.retryAfterMs !== undefined && error.retryAfterMs > LONGEST_BACKOFF_MS) return undefined;
    if (error.retryAfterMs) return error.retryAfterMs;
    return this.#clock.random() * Math.min(LONGEST_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
  }
}

function usedUp(resetsAt: Date): LlmError {
  return new LlmError("rate_limited", `A quota is used up until ${resetsAt.toISOString()}.`, { resetsAt });
}
