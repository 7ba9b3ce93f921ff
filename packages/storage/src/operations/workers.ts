import { operation } from "../operation.ts";
import { all, insert, one, sql, type Work } from "../sql-statement.ts";
import { WORKER_ALIVE_MS } from "../worker-store.ts";
import { SCHEMA_VERSION } from "./schema/migrations.ts";

/** Dead workers stay listed this long, so that operators can see them. */
const REMEMBERED_MS = 3_600_000;

interface WorkerColumns {
  id: string;
  holder: string;
  started_at: number;
  /** All other fields, as JSON. */
  body: string;
}

/** A heartbeat on a dead connection must fail early enough for another one before the worker counts as dead. */
const BEAT_TIMEOUT_MS = WORKER_ALIVE_MS / 2;

export const beatWorker = operation("workers.beat", beat, { single: beatInOneStatement });

function* beat(row: WorkerColumns): Work<void> {
  const { id, ...rest } = row;
  const columns = { ...rest, schema: SCHEMA_VERSION, seen_at: 0 };
  yield sql`delete from worker where seen_at < now_ms() - ${REMEMBERED_MS}`;
  yield sql`${insert("worker", [{ id, ...columns }])} on conflict (id) do update set
    holder = excluded.holder, started_at = excluded.started_at, body = excluded.body, schema = excluded.schema`;
  yield sql`update worker set seen_at = now_ms() where id = ${id}`;
}

/** One round trip: with a slow connection, several could outlast the time after which a worker counts as dead. */
function* beatInOneStatement({ id, holder, started_at, body }: WorkerColumns): Work<void> {
  yield {
    ...sql`
      with forgotten as (delete from worker where seen_at < now_ms() - ${REMEMBERED_MS} and id <> ${id})
      insert into worker (id, holder, started_at, body, schema, seen_at)
      values (${id}, ${holder}, ${started_at}, ${body}, ${SCHEMA_VERSION}, now_ms())
      on conflict (id) do update set holder = excluded.holder, started_at = excluded.started_at, body = excluded.body,
        schema = excluded.schema, seen_at = excluded.seen_at`,
    timeoutMs: BEAT_TIMEOUT_MS,
  };
}

export interface StoredWorker extends WorkerColumns {
  schema: number;
  seen_at: number;
  silent_ms: number;
}

export const listWorkers = operation("workers.list", function* (): Work<StoredWorker[]> {
  return yield* all(sql<StoredWorker>`
    select id, holder, schema, started_at, seen_at, body, now_ms() - seen_at as silent_ms
    from worker where seen_at >= now_ms() - ${REMEMBERED_MS} order by started_at, id`);
});

export const readTime = operation("workers.time", function* (): Work<number> {
  const row = yield* one(sql<{ now: number }>`select now_ms() as now`);
  return row?.now ?? 0;
});

export const removeWorker = operation("workers.remove", function* (id: string): Work<void> {
  yield sql`delete from worker where id = ${id}`;
});

/** The fields that a migration needs. */
export interface LivingWorker {
  holder: string;
  schema: number;
}

export function* livingWorkers(): Work<LivingWorker[]> {
  return yield* all(sql<LivingWorker>`
    select holder, schema from worker where seen_at >= now_ms() - ${WORKER_ALIVE_MS} order by holder`);
}
