import { sql, type Sql } from "@tandem/storage/postgres";
import type { Run } from "../run-queue.ts";

export const SCHEMA = "tandem_queue";
/** Payloads: a place that has a new run, or `!` and the key of a cancelled run. */
export const CHANNEL = "tandem_queue_run";

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
  `create index if not exists run_waiting on run (place, tenant, kind, priority desc, sent_at) where state = 'waiting'`,
  `create index if not exists run_running on run (tenant) where state = 'running'`,
];

/** Held while runs are taken, so that the limit of a tenant holds across workers. */
export const LOCK_TAKING = "select pg_advisory_xact_lock(hashtext('tandem_queue.take'))";

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

export const take = (runs: readonly { key: string; tenant: string }[]) => sql<TakenRow>`
  update run set state = 'running', token = gen_random_uuid(), beat_at = clock_timestamp()
  from jsonb_to_recordset(${JSON.stringify(runs.map(({ key, tenant }) => ({ key, tenant })))}::jsonb)
    as chosen (key text, tenant text)
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
    insert into run (key, tenant, state, kind, place, priority, traceparent, sent_at, failures)
    select key, tenant, 'waiting', kind, place, priority, traceparent, sent_at, failures from mine
    on conflict (key, tenant, state) do nothing
  )
  select pg_notify(${CHANNEL}, place) from mine`;

interface RetryPolicy {
  attempts: number;
  pauseSeconds: number;
  maxPauseSeconds: number;
}

/** After an attempt failed: retries with backoff, merged with a run that was sent in the meantime, or leaves a dead letter. */
export const fail = ({ key, tenant, token }: TakenRow, error: string, policy: RetryPolicy): Sql =>
  retry(sql`key = ${key} and tenant = ${tenant} and token = ${token}`, sql`0`, error, policy);

/** The same for runs without a heartbeat. The first retry has no backoff: the cause may be unrelated to the run. */
export const failLost = (silentSeconds: number, policy: RetryPolicy): Sql =>
  retry(
    sql`beat_at < clock_timestamp() - ${silentSeconds} * interval '1 second'`,
    sql`1`,
    "Its worker died or was cut off.",
    policy,
  );

const retry = (
  which: Sql,
  free: Sql,
  error: string,
  { attempts, pauseSeconds, maxPauseSeconds }: RetryPolicy,
): Sql => sql`
  with failed as (
    delete from run where state = 'running' and ${which}
    returning *, failures + 1 >= ${attempts} as is_last, case when failures + 1 >= ${attempts} or failures < ${free} then 0
      else least(${pauseSeconds} * 2 ^ least(failures, 20), ${maxPauseSeconds}) end as pause
  ),
  back as (
    insert into run (key, tenant, state, kind, place, priority, traceparent, sent_at, due_at, failures, error)
    select key, tenant, case when is_last then 'dead' else 'waiting' end, kind, place, priority, traceparent, sent_at,
      clock_timestamp() + pause * interval '1 second', failures + 1, ${error}
    from failed
    where not is_last or not exists (
      select from run sent where sent.key = failed.key and sent.tenant = failed.tenant and sent.state = 'waiting'
    )
    on conflict (key, tenant, state) do update
      set sent_at = excluded.sent_at, due_at = excluded.due_at, failures = excluded.failures, error = excluded.error
    returning place
  )
  select pg_notify(${CHANNEL}, place) from back`;

/** Heartbeats; returns the runs that are still the worker's. */
export const beat = (runs: readonly TakenRow[]) => sql<{ token: string }>`
  update run set beat_at = clock_timestamp()
  from jsonb_to_recordset(${JSON.stringify(runs.map(({ key, tenant, token }) => ({ key, tenant, token })))}::jsonb)
    as mine (key text, tenant text, token uuid)
  where run.key = mine.key and run.tenant = mine.tenant and run.state = 'running' and run.token = mine.token
  returning run.token::text`;

export const cancel = (key: string): Sql => sql`
  with gone as (delete from run where key = ${key} returning key, state)
  select pg_notify(${CHANNEL}, '!' || key) from gone where state = 'running'`;

export type DeadRow = Omit<TakenRow, "token"> & { error: string; failures: number; at: Date };

/** Without runs that were sent again in the same moment. */
export const dead = () => sql<DeadRow>`
  select key, tenant, kind, place, priority, traceparent, error, failures, due_at as at from run letter
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
