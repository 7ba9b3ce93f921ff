import { hostname } from "node:os";
import {
  RequestError,
  type AuditNote,
  type FleetQueue,
  type FleetStatus,
  type FleetWorker,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import { isJobPlace, type QueueDepth, type RunQueue } from "@tandem/queue";
import type { Records, Store, WorkerRow } from "@tandem/storage";
import type { AccountLimits } from "./account-limits.ts";
import { DrainRequests } from "./drain-requests.ts";
import type { Fleet } from "./fleet.ts";
import { ANYWHERE, fits, takesWork } from "./place.ts";
import { readThroughput, type Throughput } from "./throughput.ts";

interface FleetDependencies {
  store: Store;
  /** Records shared by all tenants. */
  records: Records;
  limits: AccountLimits;
  /** The queue of a fleet. Without it, waiting sessions are read from the store. */
  queue: RunQueue | undefined;
  /** Outside of a fleet, the queue of this process's jobs. */
  jobQueue?: RunQueue | undefined;
  /** This process, if it has no row because it is alone. Undefined for a command that only reads. */
  here: { holder: string; roots: readonly string[] } | undefined;
  note: (note: AuditNote) => Promise<void>;
  clock: Clock;
}

type ListedWorker = Awaited<ReturnType<Store["workers"]["list"]>>[number];

/** Reads the state of the fleet from the store and the queue, and offers its few actions. */
export function createFleet({ store, records, limits, queue, jobQueue, here, note, clock }: FleetDependencies): Fleet {
  const letters = queue ?? jobQueue;
  const drainRequests = new DrainRequests(records, clock);
  const startedAt = isoNow(clock);

  const alone = (held: number): ListedWorker[] =>
    here
      ? [
          {
            id: "wrk_here" as WorkerRow["id"],
            holder: here.holder,
            role: "all",
            host: hostname(),
            machine: hostname(),
            labels: {},
            tenants: null,
            roots: [...here.roots],
            address: null,
            version: "",
            schema: 0,
            maxSessions: 0,
            sessions: held,
            startedAt,
            seenAt: startedAt,
            draining: false,
            payer: null,
            silentMs: 0,
            alive: true,
          },
        ]
      : [];

  const view = async (row: ListedWorker, throughput: (name: string) => Throughput): Promise<FleetWorker> => {
    const isDraining = row.draining || (row.alive && (await drainRequests.of(row.id)) !== undefined);
    return {
      id: row.id,
      name: row.holder,
      role: row.role,
      machine: row.machine,
      labels: row.labels,
      problem: row.problem ?? null,
      state: row.alive ? (isDraining ? "draining" : "live") : "gone",
      tenants: row.tenants,
      address: row.address,
      version: row.version,
      sessions: row.sessions,
      payer: row.payer,
      max_sessions: Number.isFinite(row.maxSessions) && row.maxSessions > 0 ? row.maxSessions : null,
      started_at: row.startedAt,
      silent_ms: row.silentMs,
      turns_per_minute: throughput(row.holder).turns_per_minute,
    };
  };

  /** Waiting runs, from the queue or, without one, from the store. */
  const depths = async (): Promise<QueueDepth[]> => {
    if (queue) return queue.depth();
    const wanted = Map.groupBy(await store.leases.waitingForWorker(), ({ place }) => place ?? ANYWHERE);
    const sessions = [...wanted].map(([place, waiting]) => ({
      place,
      waiting: waiting.length,
      running: 0,
      oldestMs: Math.max(0, clock.now() - Math.min(...waiting.map(({ since }) => Date.parse(since)))),
    }));
    return [...sessions, ...((await jobQueue?.depth()) ?? [])];
  };

  const tenants = async (): Promise<string[]> => (await store.tenants.list()).map(({ id }) => id);

  return {
    async status(): Promise<FleetStatus> {
      const [rows, depth, held, abandoned, known, throughput, dead, all] = await Promise.all([
        store.workers.list(),
        depths(),
        store.leases.held(),
        store.leases.abandoned(),
        limits.list(),
        readThroughput(records, clock.now()),
        letters?.dead() ?? [],
        tenants(),
      ]);
      const own = held.filter(({ holder }) => holder === here?.holder).length;
      const workers = rows.length > 0 ? rows : alone(own);
      const live = workers.filter((worker) => worker.alive && takesWork(worker));
      // The row of a worker does not list its contexts. Each worker of a tenant has the tenant's.
      const isServed = (place: string) =>
        live.some((worker) => all.some((tenant) => fits(worker, isJobPlace(place) ? ANYWHERE : place, tenant)));
      return {
        type: "fleet_status",
        at: isoNow(clock),
        workers: await Promise.all(workers.map((row) => view(row, throughput.of))),
        queue: depth.map(({ place, waiting, running, oldestMs }): FleetQueue => ({
          place,
          waiting,
          running,
          oldest_ms: oldestMs,
          served: isServed(place),
        })),
        leases: { held: held.length, abandoned: abandoned.length },
        limits: known.map(({ account, kind, model = null, resetsAt, learnedAt, by }) => ({
          account,
          kind,
          model,
          resets_at: resetsAt,
          learned_at: learnedAt,
          learned_by: by,
        })),
        throughput: throughput.all,
        dead: dead.length,
      };
    },

    async dead() {
      const runs = (await letters?.dead()) ?? [];
      return runs.map(({ run: { key, kind, tenant, place }, ...rest }) => ({ key, kind, tenant, place, ...rest }));
    },

    async requeue(key, by = "unknown") {
      if (!(await letters?.requeue(key))) {
        throw new RequestError("not_found", `No run of ${key} has failed its last attempt.`, {
          fix: "See `tandem fleet dead`.",
        });
      }
      await note({ kind: "fleet.requeued", actor: by, details: { key } });
    },

    async drain(worker, by = "unknown") {
      const rows = (await store.workers.list()).filter(({ alive }) => alive);
      const named = rows.filter(({ id, holder }) => id === worker || holder === worker);
      const found = named.length > 0 ? named : rows.filter(({ id }) => worker.length >= 6 && id.startsWith(worker));
      const [row, another] = found;
      if (!row) {
        throw new RequestError("not_found", `No worker that lives is called ${worker}.`, {
          fix: "See `tandem fleet status` for their ids.",
        });
      }
      if (another) {
        throw new RequestError("invalid_request", `${found.length} workers have an id that begins with ${worker}.`, {
          fix: "Give more of it.",
        });
      }
      await drainRequests.ask(row.id, by);
      await note({ kind: "fleet.drained", actor: by, details: { worker: row.id, name: row.holder } });
      return view({ ...row, draining: true }, (await readThroughput(records, clock.now())).of);
    },
  };
}
