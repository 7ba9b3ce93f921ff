import { LlmError, sleep } from "@tandem/protocol";
import { governorClock, type GovernorClock } from "./governor-clock.ts";
import type { Attempt } from "./llm-backend.ts";
import type { Wait } from "./llm-runtime.ts";
import { type Slot, Slots } from "./slots.ts";

// Backoff starts at up to one second, doubles, and stays below a minute: long enough for an overload to pass, short
// enough for a person to wait.
const FIRST_BACKOFF_MS = 1_000;
const MAX_BACKOFF_MS = 60_000;

// A longer timer overflows and fires at once.
const MAX_TIMER_MS = 2 ** 31 - 1;

// Clock skew: a request sent exactly at the reset would be rejected again.
const RESET_MARGIN_MS = 1_000;

export interface GovernedCall {
  /** Runs one retryable unit of an LLM operation. */
  attempt: Attempt;
  /**
   * Runs the caller's code during an attempt without holding its slot: the code may make calls that need one. Only
   * requests to the service hold slots; otherwise nested calls could deadlock.
   */
  aside: <T>(work: () => Promise<T>) => Promise<T>;
  /** Attempts after a failed one. */
  readonly retries: number;
  /** Total time spent waiting. */
  readonly waitedMs: number;
}

/** A running attempt. */
interface RunningAttempt {
  number: number;
  /** Undefined while the slot is released. */
  slot: Slot | undefined;
  /** Number of callbacks running aside. */
  aside: number;
  /** Set while it waits to get a slot back. */
  returning: Promise<void> | undefined;
}

/** Quota knowledge shared with other processes on the same account. */
export interface SharedQuotas {
  /** Time until which a model's quota is used up; undefined if it can be used now. */
  until(model: string): Promise<Date | undefined>;
  /** Publishes the reset time of a model's quota. */
  learned(model: string, resetsAt: Date): Promise<void>;
}

interface CallTerms {
  /** Model of the call. */
  model: string;
  signal: AbortSignal;
  /** Maximum total wait for quotas. */
  patienceMs: number;
  onWait: (wait: Wait) => void;
}

/**
 * The single owner of retries, quota waits and concurrency, shared by all calls of a runtime. An overload that one call
 * hits applies to all; a quota applies to calls of the same model.
 */
export class Governor {
  readonly #attempts: number;
  readonly #slots: Slots;
  readonly #clock: GovernorClock;
  readonly #shared: SharedQuotas | undefined;
  readonly #pausedUntil = new Map<string, number>();

  constructor(
    limits: { concurrency: number; attempts: number },
    clock: GovernorClock = governorClock,
    shared?: SharedQuotas,
  ) {
    this.#shared = shared;
    this.#attempts = limits.attempts;
    this.#slots = new Slots(limits.concurrency);
    this.#clock = clock;
  }

  /** Current concurrency limit. */
  get concurrency(): number {
    return this.#slots.limit;
  }

  begin({ model, signal, patienceMs, onWait }: CallTerms): GovernedCall {
    let retries = 0;
    let waitedMs = 0;
    let patienceLeft = patienceMs;
    let trial: RunningAttempt | undefined;

    const waitFor = async <T>(wait: Wait, end: () => Promise<T>): Promise<T> => {
      const since = this.#clock.now();
      onWait(wait);
      try {
        return await end();
      } finally {
        waitedMs += this.#clock.now() - since;
      }
    };

    const sleepUntil = (wait: Wait & { until: Date }) => {
      const milliseconds = Math.min(MAX_TIMER_MS, Math.max(0, wait.until.getTime() - this.#clock.now()));
      return waitFor(wait, async () => {
        await sleep(this.#clock, milliseconds, { signal, keepsProcess: true });
        signal.throwIfAborted();
      });
    };

    const waitForQuota = async (until: number, attempt: number) => {
      patienceLeft -= until - this.#clock.now();
      await sleepUntil({ reason: "quota", until: new Date(until), attempt });
    };

    const takeSlot = (attempt: number): Promise<Slot> => {
      const take = () => this.#slots.take(signal);
      return this.#slots.full ? waitFor({ reason: "concurrency", attempt }, take) : take();
    };

    /** Another call may have hit a quota before this one, or while it was queued. */
    const enter = async (attempt: number) => {
      for (;;) {
        for (;;) {
          const elsewhere = this.#shared ? await this.#knownElsewhere(this.#shared, model) : 0;
          const until = Math.max(this.#pauseOf(model), elsewhere);
          if (until <= this.#clock.now()) break;
          if (!this.#isWithin(patienceLeft, until)) throw usedUp(new Date(until));
          await waitForQuota(until, attempt);
        }
        const slot = await takeSlot(attempt);
        if (this.#pauseOf(model) <= this.#clock.now()) return slot;
        this.#slots.giveBack();
      }
    };

    const tryOnce = async <T>(operation: (attempt: number) => Promise<T>, attempt: number): Promise<T> => {
      const own: RunningAttempt = { number: attempt, slot: await enter(attempt), aside: 0, returning: undefined };
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

    const comeBack = async (own: RunningAttempt) => {
      try {
        const slot = await takeSlot(own.number);
        // The attempt may have ended or gone aside again in the meantime.
        if (trial === own && own.aside === 0) own.slot = slot;
        else this.#slots.giveBack();
      } catch {
        // Only an abort gets here, which ends the attempt itself.
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
            void this.#shared?.learned(model, new Date(quotaUntil - RESET_MARGIN_MS)).catch(() => undefined);
            if (!this.#isWithin(patienceLeft, quotaUntil)) throw error;
            this.#pausedUntil.set(model, Math.max(this.#pauseOf(model), quotaUntil));
            await waitForQuota(quotaUntil, number + 1);
          } else {
            transientFailures += 1;
            const pause = this.#pauseAfter(error, transientFailures);
            if (pause === undefined || transientFailures >= this.#attempts) throw error;
            const until = new Date(this.#clock.now() + pause);
            await sleepUntil({
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

  /** When the shared store expects the quota to reset. If the store fails, ask the service instead. */
  async #knownElsewhere(shared: SharedQuotas, model: string): Promise<number> {
    const until = await shared.until(model).catch(() => undefined);
    return until ? until.getTime() + RESET_MARGIN_MS : 0;
  }

  #pauseOf(model: string): number {
    return this.#pausedUntil.get(model) ?? 0;
  }

  #isWithin(patienceLeft: number, until: number): boolean {
    return until - this.#clock.now() <= patienceLeft;
  }

  /** A quota with a reset time is waited for within patience; everything else uses backoff. */
  #endOfQuota(error: LlmError): number | undefined {
    if (error.code !== "rate_limited") return undefined;
    const now = this.#clock.now();
    if (error.resetsAt && error.resetsAt.getTime() > now) return error.resetsAt.getTime() + RESET_MARGIN_MS;
    if (!error.resetsAt && (error.retryAfterMs ?? 0) > MAX_BACKOFF_MS) return now + (error.retryAfterMs ?? 0);
    return undefined;
  }

  /** Undefined if a retry cannot help, or not soon. */
  #pauseAfter(error: LlmError, failures: number): number | undefined {
    if (!error.transient && error.code !== "rate_limited") return undefined;
    if (error.retryAfterMs !== undefined && error.retryAfterMs > MAX_BACKOFF_MS) return undefined;
    if (error.retryAfterMs) return error.retryAfterMs;
    return this.#clock.random() * Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (failures - 1));
  }
}

function usedUp(resetsAt: Date): LlmError {
  return new LlmError("rate_limited", `A quota is used up until ${resetsAt.toISOString()}.`, { resetsAt });
}
