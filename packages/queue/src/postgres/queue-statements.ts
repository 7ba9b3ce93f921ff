import { sql, type Sql } from "@tandem/storage/postgres";
import { DEFAULT_SILENT_SECONDS, type Run } from "../run-queue.ts";

export const SCHEMA = "tandem_queue";
/** Payloads: a place that has a new run, or `!` and the key of a cancelled run. */
export const CHANNEL = "tandem_queue_run";

/** Its presence shows that the table is complete. Counts the workers that died with a run, apart from `failures`. */
export const NEWEST_COLUMN = "losses";

/**
 * One table. Its key allows one waiting, one running and one dead run per key and tenant, so two workers cannot run the
 * same key, whatever they do.
 */
export const CREATE_TABLES = [
  `create table if not exists run (
    key text not null,
    tenant text not null,
    state text not null check (state in ('waiting', 'running', 'dead')),
    kind text not null,
    place text not null,
    priority integer not null,
    traceparent text,
    sent_at timestamptz not null default clock_timestamp(),
    due_at timestamptz not null default clock_timestamp(),
    failures integer not null default 0,
    error text,
    token uuid,
    beat_at timestamptz,
    primary key (key, tenant, state)
  )`,
  // Tables of earlier builds have no such column, and their processes may run beside this one.
  `alter table run add column if not exists ${NEWEST_COLUMN} integer not null default 0`,
  `create index if not exists run_waiting on run (place, tenant, kind, priority desc, sent_at) where state = 'waiting'`,
  `create index if not exists run_running on run (tenant) where state = 'running'`,
];

/** Held while runs are taken, so that the limit of a tenant holds across workers. */
export const LOCK_TAKING = sql`select pg_advisory_xact_lock(hashtext('tandem_queue.take'))`;

/** Replaces a dead letter. A waiting run stays, with its backoff; it moves to the new place. */
export const send = ({ key, tenant, kind, place, priority, traceparent = null }: RunColumns): Sql => sql`
  with gone as (delete from run where key = ${key} and tenant = ${tenant} and state = 'dead'),
  sent as (
    insert into run (key, tenant, state, kind, place, priority, traceparent)
    values (${key}, ${tenant}, 'waiting', ${kind}, ${place}, ${priority}, ${traceparent})
    on conflict (key, tenant, state) do update set place = excluded.place, priority = excluded.priority
      where (run.place, run.priority) <> (excluded.place, excluded.priority)
    returning place
  )
  select pg_notify(${CHANNEL}, place) from sent`;

type RunColumns = Omit<Run, "traceparent"> & { traceparent?: string | null };

export interface RunnableRow {
  key: string;
  tenant: string;
  kind: Run["kind"];
  priority: number;
  since: number;
  busy: number;
}

/**
 * For each place, tenant and kind, the first runs that can be taken now, with the number of the tenant's running sessions.
 * Skips from one tenant to the next in the index, so the cost does not depend on how many runs wait.
 */
export const findRunnable = (places: readonly string[], tenants: readonly string[] | null, limit: number) =>
  sql<RunnableRow>`
  with busy as (select tenant, count(*)::int as runs from run where state = 'running' and kind = 'session' group by tenant)
  select head.key, lane.tenant, lane.kind, head.priority,
    (extract(epoch from head.sent_at) * 1000)::float8 as since, coalesce(busy.runs, 0) as busy
  from jsonb_array_elements_text(${JSON.stringify(places)}::jsonb) as served (place)
  cross join lateral (
    with recursive lanes (tenant, kind) as (
      (
        select tenant, kind from run where state = 'waiting' and run.place = served.place
        order by run.place, tenant, kind limit 1
      )
      union all
      select next.tenant, next.kind from lanes cross join lateral (
        select run.tenant, run.kind from run
        where state = 'waiting' and run.place = served.place and (run.tenant, run.kind) > (lanes.tenant, lanes.kind)
        order by run.place, run.tenant, run.kind limit 1
      ) next
    )
    select tenant, kind from lanes
  ) lane
  cross join lateral (
    select key, priority, sent_at from run waiting
    where state = 'waiting' and (place, tenant, kind) = (served.place, lane.tenant, lane.kind)
      and due_at <= clock_timestamp() and not exists (
        select from run running where running.key = waiting.key and running.tenant = waiting.tenant and running.state = 'running'
      )
    order by priority desc, sent_at limit ${limit}
  ) head
  left join busy on busy.tenant = lane.tenant
  where ${tenants && JSON.stringify(tenants)}::jsonb is null
    or lane.tenant in (select jsonb_array_elements_text(${JSON.stringify(tenants ?? [])}::jsonb))`;

export interface TakenRow {
  key: string;
  tenant: string;
  kind: Run["kind"];
  place: string;
  priority: number;
  traceparent: string | null;
  /** Identifies this attempt: a worker that lost the run can no longer change it. */
  token: string;
}

/** A tenant with waiting runs, as the taking worker sees it. */
export interface ServedTenant {
  tenant: string;
  /** The maximum of its running sessions; null for no limit. */
  most: number | null;
  /** When this worker last took a run of this tenant; 0 for never. */
  served: number;
}

interface TakeOptions {
  places: readonly string[];
  tenants: readonly ServedTenant[];
  /** At most so many runs. */
  room: number;
  silentSeconds: number;
}

/**
 * Takes the runs that `mostUrgent` would choose one after another. `ahead` is the number of the tenant's running sessions
 * once its runs before are taken.
 */
export const take = ({ places, tenants, room, silentSeconds }: TakeOptions) => sql<TakenRow>`
  with found as (${findRunnable(
    places,
    tenants.map(({ tenant }) => tenant),
    room,
  )}),
  numbered as (
    select found.*, most, served, row_number() over (partition by tenant, kind order by priority desc, since) as nth
    from found join jsonb_to_recordset(${JSON.stringify(tenants)}::jsonb)
      as known (tenant text, most integer, served float8) using (tenant)
  ),
  ranked as (
    select key, tenant, priority, since,
      busy + count(*) filter (where kind = 'session') over (its_runs rows between unbounded preceding and 1 preceding) as ahead,
      case when row_number() over its_runs = 1 then served end as served
    from numbered where kind = 'job' or most is null or busy + nth <= most
    window its_runs as (partition by tenant order by priority desc, since)
  ),
  chosen as (
    select key, tenant from ranked order by priority desc, ahead, served nulls last, since limit ${room}
  )
  update run set state = 'running', token = gen_random_uuid(), beat_at = ${aliveFor(silentSeconds)}
  from chosen
  where run.key = chosen.key and run.tenant = chosen.tenant and run.state = 'waiting'
  returning run.key, run.tenant, kind, place, priority, traceparent, token::text`;

export const end = ({ key, tenant, token }: TakenRow): Sql =>
  sql`delete from run where key = ${key} and tenant = ${tenant} and state = 'running' and token = ${token}`;

/** Returns a run to the queue; the attempt does not count. Keeps one that was sent in the meantime. */
export const giveBack = ({ key, tenant, token }: TakenRow): Sql => sql`
  with mine as (
    delete from run where key = ${key} and tenant = ${tenant} and state = 'running' and token = ${token} returning *
  ),
  back as (
    insert into run (key, tenant, state, kind, place, priority, traceparent, sent_at, failures, losses)
    select key, tenant, 'waiting', kind, place, priority, traceparent, sent_at, failures, losses from mine
    on conflict (key, tenant, state) do nothing
  )
  select pg_notify(${CHANNEL}, place) from mine`;

interface RetryPolicy {
  attempts: number;
  pauseSeconds: number;
  maxPauseSeconds: number;
}

/** After an attempt failed: retries with backoff, merged with a run that was sent in the meantime, or leaves a dead letter. */
export const fail = (
  { key, tenant, token }: TakenRow,
  error: string,
  { attempts, pauseSeconds, maxPauseSeconds }: RetryPolicy,
): Sql =>
  retry(sql`key = ${key} and tenant = ${tenant} and token = ${token}`, error, {
    isLast: sql`failures + 1 >= ${attempts}`,
    pause: sql`least(${pauseSeconds} * 2 ^ least(failures, 20), ${maxPauseSeconds})`,
    failures: sql`failures + 1`,
    losses: sql`losses`,
  });

/**
 * The same for runs without a heartbeat, without backoff: they have waited for the timeout, and the cause may be unrelated
 * to the run. A run that kills every worker still ends as a dead letter.
 */
export const failLost = (attempts: number): Sql =>
  retry(
    sql`beat_at < clock_timestamp() - ${DEFAULT_SILENT_SECONDS} * interval '1 second'`,
    "Its worker died or was cut off.",
    {
      isLast: sql`losses + 1 >= ${attempts}`,
      pause: sql`0`,
      failures: sql`failures`,
      losses: sql`losses + 1`,
    },
  );

interface RetryColumns {
  isLast: Sql;
  /** Seconds until the next attempt. */
  pause: Sql;
  failures: Sql;
  losses: Sql;
}

const retry = (which: Sql, error: string, { isLast, pause, failures, losses }: RetryColumns): Sql => sql`
  with failed as (
    delete from run where state = 'running' and ${which}
    returning *, ${isLast} as is_last, case when ${isLast} then 0 else ${pause} end as pause
  ),
  back as (
    insert into run (key, tenant, state, kind, place, priority, traceparent, sent_at, due_at, failures, losses, error)
    select key, tenant, case when is_last then 'dead' else 'waiting' end, kind, place, priority, traceparent, sent_at,
      clock_timestamp() + pause * interval '1 second', ${failures}, ${losses}, ${error}
    from failed
    where not is_last or not exists (
      select from run sent where sent.key = failed.key and sent.tenant = failed.tenant and sent.state = 'waiting'
    )
    on conflict (key, tenant, state) do update set sent_at = excluded.sent_at, due_at = excluded.due_at,
      failures = excluded.failures, losses = excluded.losses, error = excluded.error
    returning place
  )
  select pg_notify(${CHANNEL}, place) from back`;

/**
 * The value of `beat_at` for a worker whose runs are lost after this time. Every process compares with the default timeout,
 * so that workers with different settings and versions agree on which runs are lost.
 */
const aliveFor = (silentSeconds: number): Sql =>
  sql`clock_timestamp() + ${silentSeconds - DEFAULT_SILENT_SECONDS} * interval '1 second'`;

/** Heartbeats; returns the runs that are still the worker's. */
export const beat = (runs: readonly TakenRow[], silentSeconds: number) => sql<{ token: string }>`
  update run set beat_at = ${aliveFor(silentSeconds)}
  from jsonb_to_recordset(${JSON.stringify(runs.map(({ key, tenant, token }) => ({ key, tenant, token })))}::jsonb)
    as mine (key text, tenant text, token uuid)
  where run.key = mine.key and run.tenant = mine.tenant and run.state = 'running' and run.token = mine.token
  returning run.token::text`;

export const cancel = (key: string): Sql => sql`
  with gone as (delete from run where key = ${key} returning key, state)
  select pg_notify(${CHANNEL}, '!' || key) from gone where state = 'running'`;

export type DeadRow = Omit<TakenRow, "token"> & { error: string; attempts: number; at: Date };

/** Without runs that were sent again in the same moment. */
export const dead = () => sql<DeadRow>`
  select key, tenant, kind, place, priority, traceparent, error, failures + losses as attempts, due_at as at from run letter
  where state = 'dead' and not exists (
    select from run sent where sent.key = letter.key and sent.tenant = letter.tenant and sent.state <> 'dead'
  )
  order by due_at desc`;

export interface DepthRow {
  place: string;
  waiting: number;
  running: number;
  oldest: number | null;
}

export const depth = () => sql<DepthRow>`
  select place, count(*) filter (where state = 'waiting')::int as waiting,
    count(*) filter (where state = 'running')::int as running,
    (extract(epoch from clock_timestamp() - min(sent_at) filter (where state = 'waiting')) * 1000)::float8 as oldest
  from run where state <> 'dead' group by place order by place`;
