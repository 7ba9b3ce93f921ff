import type { WorkerId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import { beatWorker, listWorkers, readTime, removeWorker } from "../operations/workers.ts";
import { WORKER_ALIVE_MS, type WorkerRow, type WorkerStore } from "../worker-store.ts";
import { toIso, toMs } from "../rows/time.ts";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

type Body = Omit<WorkerRow, "id" | "holder" | "schema" | "startedAt" | "seenAt">;

export function createWorkerStore(database: Database): WorkerStore {
  return {
    beat: async ({ id, holder, startedAt, ...body }) => {
      await database.write(beatWorker, {
        id,
        holder,
        started_at: toMs(startedAt),
        body: JSON.stringify({ ...body, host: thisHost() } satisfies Body),
      });
    },
    list: async () =>
      (await database.read(listWorkers, undefined)).map((row) => ({
        ...(JSON.parse(row.body) as Body),
        id: row.id as WorkerId,
        holder: row.holder,
        schema: row.schema,
        startedAt: toIso(row.started_at),
        seenAt: toIso(row.seen_at),
        silentMs: row.silent_ms,
        alive: row.silent_ms <= WORKER_ALIVE_MS,
      })),
    time: () => database.read(readTime, undefined),
    remove: (id) => database.write(removeWorker, id),
  };
}

let known: string | undefined;

/** Identifies this machine. Two machines can share a hostname, but not a boot id. */
export const thisHost = (): string => (known ??= `${hostname()} ${bootId()}`.trim());

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    // There is no boot id outside Linux; the hostname must do.
    return "";
  }
}
