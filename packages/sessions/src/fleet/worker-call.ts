import { RequestError, type SessionEventBody, type SessionId, type Clock } from "@tandem/protocol";
import type { DeadRun } from "@tandem/queue";
import type { Store, WorkerRow } from "@tandem/storage";
import type { FleetSettings } from "./fleet-settings.ts";
import { ANYWHERE, describePlace, isMachine, fits, takesWork } from "./place.ts";

/** This process does not enqueue a run again within this time: it may be in flight. */
const SENT_MS = 5_000;
/** How long input may wait before the log says that no worker can take it: a worker may be restarting. */
const UNPLACED_MS = 4_000;
/** How long input may wait for a full worker before the log says so. */
const CROWDED_MS = 8_000;
/** A session that waits for a worker gets no other events, so an earlier notice is among the last ones. */
const RECENT = 20;

/** The part of a session's writer that notices about workers need. */
interface MessageWriter {
  giveUp(error: unknown): Promise<void>;
  change(make: () => { change: object; events: SessionEventBody[] }): Promise<unknown>;
}

/** Runs work as a session's writer without running its turns. Does nothing if another process holds the session. */
type Speak = (session: SessionId, work: (actor: MessageWriter) => Promise<unknown>) => Promise<void>;

/** Calls a worker through the queue for sessions without a holder, and logs it if none can take them. */
export class WorkerCall {
  readonly #store: Store;
  readonly #fleet: FleetSettings;
  readonly #clock: Clock;
  readonly #speak: Speak;
  /** By the monotonic clock. */
  readonly #sent = new Map<SessionId, number>();
  /** Dead letters and missing workers that were already logged: `SESSION …`. */
  readonly #logged = new Set<string>();

  constructor(store: Store, fleet: FleetSettings, clock: Clock, speak: Speak) {
    this.#store = store;
    this.#clock = clock;
    this.#fleet = fleet;
    this.#speak = speak;
  }

  /** A session has input. Its holder, if any, is woken by the store. */
  async call(session: SessionId): Promise<void> {
    if (await this.#store.leases.holder(session)) return;
    const row = await this.#store.sessions.get(session);
    if (row) await this.#send(session, row.place);
  }

  /** The session was released here. Input that arrived in the last moment has called no worker. */
  async leftBehind(session: SessionId): Promise<void> {
    const row = await this.#store.sessions.get(session);
    if (!row) return;
    const isOpen = row.status === "running" || row.status === "rescheduling";
    if (isOpen || (await this.#store.inputQueue.list(session)).length > 0) await this.call(session);
  }

  /** Calls workers for sessions whose holder died, and for input without a call. */
  async sweep(): Promise<void> {
    const wanted = await this.#store.leases.waitingForWorker();
    const sentBefore = this.#clock.monotonic() - SENT_MS;
    for (const [session, at] of this.#sent) if (at < sentBefore) this.#sent.delete(session);
    const waiting = new Set<string>(wanted.map(({ session }) => session));
    // A session that waits again later is logged again.
    for (const name of this.#logged) if (!waiting.has(name.split(" ", 1)[0]!)) this.#logged.delete(name);
    if (wanted.length === 0) return;
    const [dead, workers] = await Promise.all([this.#fleet.queue.dead(), this.#store.workers.list()]);
    const letters = new Map(dead.map((letter) => [letter.run.key, letter]));
    const ready = workers.filter((worker) => worker.alive && takesWork(worker));
    for (const { session, place, since } of wanted) {
      const letter = letters.get(session);
      if (letter) {
        await this.#bury(session, letter);
        continue;
      }
      if (!this.#sent.has(session)) await this.#send(session, place);
      const able = ready.filter((worker) => fits(worker, place, this.#fleet.tenant));
      const waited = this.#clock.now() - Date.parse(since);
      if (able.length > 0) {
        if (waited > CROWDED_MS && able.every(isFull)) await this.#sayCrowded(session, since, able.length);
      } else if (waited > UNPLACED_MS) {
        const unable = workers.filter((worker) => worker.alive && fits(worker, place, this.#fleet.tenant));
        await this.#sayUnplaced(session, place ?? ANYWHERE, unable);
      }
    }
  }

  async #send(session: SessionId, place: string | null): Promise<void> {
    const { queue, tenant } = this.#fleet;
    this.#sent.set(session, this.#clock.monotonic());
    await queue.send({ kind: "session", key: session, tenant, place: place ?? ANYWHERE, priority: 0 });
  }

  /** A run that failed every attempt is not retried, and its session logs it. */
  async #bury(session: SessionId, { error, attempts, at }: DeadRun): Promise<void> {
    const name = `${session} ${at}`;
    if (this.#logged.has(name)) return;
    this.#logged.add(name);
    const recent = await this.#store.events.read(session, { order: "desc", limit: RECENT });
    if (recent.some(({ event }) => event.type === "session.error" && (event.processed_at ?? "") >= at)) return;
    const words = `No worker could resume the session after ${attempts} attempts. Last error: ${error}`;
    const fix = `Read its workers' logs; then send a message, or run \`tandem fleet requeue ${session}\`.`;
    await this.#speak(session, (actor) => actor.giveUp(new RequestError("unavailable", words, { fix })));
  }

  async #sayCrowded(session: SessionId, since: string, workers: number): Promise<void> {
    const name = `${session} ${since}`;
    if (this.#logged.has(name)) return;
    this.#logged.add(name);
    const text =
      workers === 1
        ? "The matching worker is at its session limit. The turn waits until a session ends."
        : `All ${workers} matching workers are at their session limit. The turn waits until a session ends.`;
    await this.#speak(session, async (actor) => {
      const recent = await this.#store.events.read(session, { order: "desc", limit: RECENT });
      const isSaid = recent.some(
        ({ event }) => event.type === "tandem.notice" && event.text === text && (event.processed_at ?? "") >= since,
      );
      if (!isSaid) await actor.change(() => ({ change: {}, events: [{ type: "tandem.notice", level: "info", text }] }));
    });
  }

  async #sayUnplaced(session: SessionId, place: string, unable: readonly WorkerRow[]): Promise<void> {
    const name = `${session} ${place}`;
    if (this.#logged.has(name)) return;
    this.#logged.add(name);
    const needs = `${describePlace(place)}${problemsOf(unable)}`;
    const event = { type: "tandem.unplaced" as const, place, needs, fix: fixFor(place, unable.length > 0) };
    await this.#speak(session, async (actor) => {
      if (await isUnplaced(this.#store, session)) return;
      await actor.change(() => ({ change: {}, events: [event] }));
    });
  }
}

function fixFor(place: string, isUnable: boolean): string {
  const start = isMachine(place) ? "Start one on that machine" : "Start one";
  return `${isUnable ? "Solve the problem, or start another one" : start} with \`tandem up --as worker\`. The message waits.`;
}

/** Why workers that match take no work. */
function problemsOf(workers: readonly WorkerRow[]): string {
  const problems = workers.flatMap(({ machine, problem }) => (problem ? [`${machine} takes no work: ${problem}`] : []));
  return problems.length === 0 ? "" : ` (${problems.join("; ")})`;
}

const isFull = ({ sessions, maxSessions }: WorkerRow): boolean => sessions >= maxSessions;

/** Whether the latest notice says that no worker can take the session. */
export async function isUnplaced(store: Pick<Store, "events">, session: SessionId): Promise<boolean> {
  const recent = await store.events.read(session, { order: "desc", limit: RECENT });
  const last = recent.find(({ event }) => event.type === "tandem.unplaced" || event.type === "tandem.placed");
  return last?.event.type === "tandem.unplaced";
}
