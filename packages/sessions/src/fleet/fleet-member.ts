import type { Clock, SessionId } from "@tandem/protocol";
import type { Run, RunQueue, Working } from "@tandem/queue";
import type { Store, WorkerRow } from "@tandem/storage";
import { SerialQueue } from "../host/serial-queue.ts";
import { DrainRequests } from "./drain-requests.ts";
import { ANYWHERE, fits } from "./place.ts";
import type { PeerWorkers } from "./peer-workers.ts";
import type { SessionRuns } from "./session-runs.ts";
import type { SharedClock } from "../host/shared-clock.ts";

const BEAT_MS = 2_000;

interface FleetMemberOptions {
  /** The default tenant's store. */
  store: Pick<Store, "workers" | "records">;
  queue: RunQueue;
  /** The static part of this process's row. */
  row: Omit<WorkerRow, "host" | "schema" | "seenAt" | "sessions" | "draining" | "problem" | "hasContext">;
  /** A context may be added while the process runs. */
  hasContext?: () => boolean;
  /** The engines that are open in this process. */
  open: () => readonly SessionRuns[];
  /** Opens a tenant's engine on demand. */
  runsOf: (tenant: string) => Promise<SessionRuns>;
  /** Why this process cannot run turns now; checked with each heartbeat. */
  findProblem?: () => Promise<string | undefined>;
  /** This process was asked to hand over its sessions and exit. */
  onDrainRequest?: () => void;
  log: { warn(details: Record<string, unknown>, message: string): void };
  clock: Clock;
  /** The clock of the engines, which follows the database's. */
  sharedClock?: Pick<SharedClock, "follow">;
  /** Read again and again, because they are needed when there is no database. */
  peers?: Pick<PeerWorkers, "refresh">;
}

/**
 * This process as a member of a fleet: maintains its row in the store and, unless it is a server only, takes runs from the
 * queue for all its engines.
 */
export class FleetMember {
  readonly #parts: FleetMemberOptions;
  readonly #places: Set<string>;
  readonly #underWay = new Set<string>();
  readonly #serial = new SerialQueue();
  readonly #drainRequests: DrainRequests;
  readonly #clock: Clock;
  #working: Working | undefined;
  #stopBeating: () => void = () => undefined;
  #beating: Promise<void> | undefined;
  #looking: Promise<void> | undefined;
  #isDraining = false;
  #isDrainRequested = false;
  #problem: string | undefined;

  constructor(parts: FleetMemberOptions) {
    this.#parts = parts;
    this.#places = new Set([ANYWHERE, `machine:${parts.row.machine}`]);
    this.#clock = parts.clock;
    this.#drainRequests = new DrainRequests(parts.store.records, this.#clock);
  }

  /** Resolves when its row is visible to others. */
  async start(): Promise<void> {
    const { row, queue, store } = this.#parts;
    await this.#checkSelf();
    await store.workers.beat(this.#row);
    await this.#parts.peers?.refresh();
    if (row.role !== "server") {
      this.#working = queue.work(
        [...this.#places],
        () => this.#capacity,
        (run, signal) => this.#handle(run, signal),
        { tenants: row.tenants },
      );
    }
    // On a slow link, both take longer than the interval: several at once would use up the connections to the database.
    this.#stopBeating = this.#clock.every(BEAT_MS, () => {
      this.#beating ??= this.#beat().finally(() => (this.#beating = undefined));
      this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    });
  }

  /** Stops taking work and updates its row. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#working?.pause();
    await this.#beat();
  }

  /** Call after the engines have stopped. */
  async stop(deadlineMs: number): Promise<void> {
    this.#stopBeating();
    await this.#working?.stop(deadlineMs);
    await Promise.all([this.#beating, this.#looking]);
    const { id } = this.#parts.row;
    try {
      await this.#parts.store.workers.remove(id);
      await this.#drainRequests.forget(id);
    } catch (error) {
      this.#parts.log.warn({ error: String(error) }, "the row of this process could not be removed");
    }
  }

  get #row() {
    const held = this.#loads.reduce((sum, load) => sum + load.held, 0);
    const { row, hasContext } = this.#parts;
    return {
      ...row,
      sessions: held,
      draining: this.#isDraining,
      problem: this.#problem ?? null,
      ...(hasContext && { hasContext: hasContext() }),
    };
  }

  get #loads(): SessionRuns["load"][] {
    return this.#parts.open().map(({ load }) => load);
  }

  /** Sessions that are woken directly are no runs, but count against the capacity. */
  get #capacity(): number {
    if (this.#problem !== undefined) return 0;
    const strays = this.#loads.flatMap(({ busy }) => busy).filter((session) => !this.#underWay.has(session));
    return Math.max(0, this.#parts.row.maxSessions - strays.length);
  }

  async #handle(run: Run, signal: AbortSignal): Promise<void> {
    this.#underWay.add(run.key);
    try {
      const runs = await this.#parts.runsOf(run.tenant);
      await this.#serial.run(() => this.#makeRoom(1));
      await runs.advance(run.key as SessionId, signal);
    } finally {
      this.#underWay.delete(run.key);
    }
  }

  /** Release idle sessions first. A released session is resumed by its next message. */
  async #makeRoom(wanted: number): Promise<void> {
    const engines = this.#parts.open();
    for (const engine of engines) {
      while (this.#row.sessions + wanted > this.#parts.row.maxSessions) if (!(await engine.makeRoom())) break;
    }
  }

  async #beat(): Promise<void> {
    const { store, log } = this.#parts;
    try {
      await this.#checkSelf();
      await store.workers.beat(this.#row);
    } catch (error) {
      log.warn({ error: String(error) }, "this process could not write its heartbeat");
    }
  }

  async #look(): Promise<void> {
    const { store, row, log, onDrainRequest, sharedClock, peers } = this.#parts;
    try {
      await sharedClock?.follow(() => store.workers.time());
      await peers?.refresh();
      if (this.#isDraining) return;
      if (row.role !== "server") await this.#takeMore();
      if (this.#isDrainRequested || !(await this.#drainRequests.of(row.id))) return;
      this.#isDrainRequested = true;
      onDrainRequest?.();
    } catch (error) {
      log.warn({ error: String(error) }, "this process could not look for work");
    }
  }

  async #takeMore(): Promise<void> {
    await this.#serveMore();
    await this.#serial.run(() => this.#makeRoom(0));
    this.#working?.look();
  }

  async #checkSelf(): Promise<void> {
    const { row, findProblem, log } = this.#parts;
    if (row.role === "server") return;
    const before = this.#problem;
    this.#problem = await findProblem?.();
    if (this.#problem === before) return;
    if (this.#problem === undefined) log.warn({ before }, "this process takes work again");
    else log.warn({ problem: this.#problem }, "this process takes no work");
  }

  /** The combinations of labels in demand are known only from waiting sessions. */
  async #serveMore(): Promise<void> {
    const { queue, row } = this.#parts;
    for (const { place } of await queue.depth()) {
      if (this.#places.has(place) || !(row.tenants ?? [ANYONE]).some((tenant) => fits(row, place, tenant))) continue;
      this.#places.add(place);
      await this.#working?.serve(place);
    }
  }
}

/** Means all tenants if none are named. */
const ANYONE = "";
