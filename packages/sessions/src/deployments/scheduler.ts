import type { Clock } from "@tandem/protocol";
import type { Log } from "../host/host-settings.ts";
import { Timer } from "../host/timer.ts";
import type { DeploymentRecords } from "./deployment-records.ts";
import type { DueRuns } from "./due-runs.ts";
import type { RunStarter } from "./run-starter.ts";

/**
 * How often the scheduler looks at the store, besides the next due time: another process may have changed a schedule or died,
 * and timers stand still while the machine sleeps.
 */
const LOOK_MS = 15_000;
/** Sessions that are created at the same time. */
const MAX_ACTIVE = 8;
const CLOCK_ERROR_MS = 60_000;

interface SchedulerDependencies {
  records: DeploymentRecords;
  due: DueRuns;
  starter: RunStarter;
  log: Log;
  clock: Clock;
}

/** Starts scheduled runs at their time, and resumes runs of processes that died. */
export class Scheduler {
  readonly #dependencies: SchedulerDependencies;
  readonly #timer: Timer;
  /** Work in progress, by the id of the deployment or run. */
  readonly #active = new Map<string, Promise<void>>();
  /** Deployments that are left to other processes, until then. */
  readonly #postponed = new Map<string, number>();
  /** By the wall clock. */
  #lookedAt = Infinity;
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #isRunning = false;

  constructor(dependencies: SchedulerDependencies) {
    this.#dependencies = dependencies;
    this.#timer = new Timer(dependencies.clock);
  }

  /** Resolves after the first look. Sessions are created in the background. */
  async start(): Promise<void> {
    this.#isRunning = true;
    await this.look();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#timer.clear();
    await this.settled();
    await this.#dependencies.starter.stop();
  }

  /** Resolves when nothing that is due now is left, unless it failed. */
  async settled(): Promise<void> {
    while (this.#looking || this.#active.size > 0) await Promise.allSettled([this.#looking, ...this.#active.values()]);
  }

  /** Call it after a schedule has changed. */
  look(): Promise<void> {
    if (!this.#isRunning) return Promise.resolve();
    if (this.#looking) this.#lookAgain = true;
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
      if (!this.#lookAgain) return;
      this.#lookAgain = false;
      void this.look();
    });
    return this.#looking;
  }

  async #look(): Promise<void> {
    const { records, due, starter, log, clock } = this.#dependencies;
    this.#timer.clear();
    let next = Infinity;
    try {
      const now = clock.now();
      // At the start, and after the clock was set back: stored times may be wrong.
      if (now < this.#lookedAt - CLOCK_ERROR_MS) {
        for (const schedule of await records.schedules()) await due.refresh(schedule);
      }
      this.#lookedAt = now;
      for (const [id, until] of this.#postponed) if (until <= now) this.#postponed.delete(id);
      for (const run of await records.startingRuns()) {
        const { id } = run;
        const at = Math.max(Date.parse(run.retryAt), this.#postponed.get(id) ?? 0);
        if (at > now) next = Math.min(next, at);
        else {
          this.#work(id, async () => {
            if (await due.isHere(run)) {
              this.#postponed.delete(id);
              await starter.resume(id);
            } else this.#postponed.set(id, clock.now() + LOOK_MS);
          });
        }
      }
      for (const { id, next: time } of await records.schedules()) {
        const at = Math.max(time, this.#postponed.get(id) ?? 0);
        if (at > now) next = Math.min(next, at);
        else {
          this.#work(id, async () => {
            const run = await due.claim(id);
            if (run === "other") this.#postponed.set(id, clock.now() + LOOK_MS);
            else this.#postponed.delete(id);
            if (typeof run === "object") await starter.start(run);
          });
        }
      }
    } catch (error) {
      log.warn({ error: String(error) }, "schedules could not be read");
    }
    if (!this.#isRunning) return;
    this.#timer.set(Math.min(Math.max(next - clock.now(), 1), LOOK_MS), () => void this.look());
  }

  #work(id: string, work: () => Promise<void>): void {
    if (!this.#isRunning || this.#active.has(id) || this.#active.size >= MAX_ACTIVE) return;
    this.#active.set(id, this.#finish(id, work));
  }

  async #finish(id: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#active.delete(id);
      void this.look();
    } catch (error) {
      // A later look tries again.
      this.#active.delete(id);
      this.#dependencies.log.warn({ id, error: String(error) }, "a scheduled run could not be started");
    }
  }
}
