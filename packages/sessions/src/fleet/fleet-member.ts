import type { SessionId } from "@tandem/protocol";
import type { Run, RunQueue, Working } from "@tandem/queue";
import type { Store, WorkerRow } from "@tandem/storage";
import { SerialQueue } from "../host/serial-queue.ts";
import { DrainRequests } from "./drain-requests.ts";
import { ANYWHERE, fits } from "./place.ts";
import type { SessionRuns } from "./session-runs.ts";

const BEAT_MS = 2_000;

interface Parts {
  /** That of the default tenant. */
  store: Pick<Store, "workers" | "records">;
  queue: RunQueue;
  /** What this process says of itself, but for what changes. */
  row: Omit<WorkerRow, "host" | "schema" | "seenAt" | "sessions" | "draining">;
  /** Of the engines that are open in this process. */
  open: () => readonly SessionRuns[];
  /** Of a tenant's engine, which is opened for it. */
  runsOf: (tenant: string) => Promise<SessionRuns>;
  /** Somebody wants this process to hand over what it has and end. */
  onDrainWish?: () => void;
  log: { warn(details: Record<string, unknown>, message: string): void };
}

/**
 * This process as one of a fleet: keeps its row in the store, and, unless it is a server alone, takes runs from the queue
 * for all its engines together.
 */
export class FleetMember {
  readonly #parts: Parts;
  readonly #places: Set<string>;
  readonly #underWay = new Set<string>();
  readonly #serial = new SerialQueue();
  readonly #wishes: DrainRequests;
  #working: Working | undefined;
  #timer: NodeJS.Timeout | undefined;
  #beating: Promise<void> = Promise.resolve();
  #isDraining = false;
  #isWishTold = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#places = new Set([ANYWHERE, `machine:${parts.row.machine}`]);
    this.#wishes = new DrainRequests(parts.store.records);
  }

  /** Resolves when others know of it. */
  async start(): Promise<void> {
    const { row, queue, store } = this.#parts;
    await store.workers.beat(this.#row);
    if (row.role !== "server") {
      this.#working = queue.work(
        [...this.#places],
        () => this.#capacity,
        (run, signal) => this.#handle(run, signal),
        row.tenants,
      );
    }
    this.#timer = setInterval(() => void (this.#beating = this.#beat()), BEAT_MS);
    this.#timer.unref();
  }

  /** Takes nothing new from now on, and says so. */
  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#working?.pause();
    await this.#beat();
  }

  /** For when the engines have stopped. */
  async stop(deadlineMs: number): Promise<void> {
    clearInterval(this.#timer);
    await this.#working?.stop(deadlineMs);
    await this.#beating;
    const { id } = this.#parts.row;
    try {
      await this.#parts.store.workers.remove(id);
      await this.#wishes.forget(id);
    } catch (error) {
      this.#parts.log.warn({ error: String(error) }, "the row of this process could not be removed");
    }
  }

  get #row() {
    const held = this.#loads.reduce((sum, load) => sum + load.held, 0);
    return { ...this.#parts.row, sessions: held, draining: this.#isDraining };
  }

  get #loads(): SessionRuns["load"][] {
    return this.#parts.open().map(({ load }) => load);
  }

  /** Sessions that hear of messages directly are no runs, and need their room all the same. */
  get #capacity(): number {
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

  /** Idle sessions give way. What was held for no turn is taken up again when somebody writes to it. */
  async #makeRoom(wanted: number): Promise<void> {
    const engines = this.#parts.open();
    for (const engine of engines) {
      while (this.#row.sessions + wanted > this.#parts.row.maxSessions) if (!(await engine.makeRoom())) break;
    }
  }

  async #beat(): Promise<void> {
    const { store, row, log, onDrainWish } = this.#parts;
    try {
      await store.workers.beat(this.#row);
      if (row.role === "server" || this.#isDraining) return;
      await this.#serveMore();
      await this.#serial.run(() => this.#makeRoom(0));
      this.#working?.look();
      if (this.#isWishTold || !(await this.#wishes.of(row.id))) return;
      this.#isWishTold = true;
      onDrainWish?.();
    } catch (error) {
      log.warn({ error: String(error) }, "this process could not say that it lives");
    }
  }

  /** Which labels are asked for together shows only when somebody does. */
  async #serveMore(): Promise<void> {
    const { queue, row } = this.#parts;
    for (const { place } of await queue.depth()) {
      if (this.#places.has(place) || !(row.tenants ?? [ANYONE]).some((tenant) => fits(row, place, tenant))) continue;
      this.#places.add(place);
      await this.#working?.serve(place);
    }
  }
}

/** Stands for all tenants where none are named. */
const ANYONE = "";
