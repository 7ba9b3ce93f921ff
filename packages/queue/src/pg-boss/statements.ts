/**
 * SQL for operations that pg-boss's API lacks: the next run across queues, all runs of a key, all runs of a worker.
 * Sending, taking, ending and retrying use pg-boss.
 */
export const SCHEMA = "tandem_queue";

/** pg-boss indexes runs by queue; keys are looked up across queues. */
export const KEY_INDEX = `${SCHEMA}.tandem_key`;
export const CREATE_KEY_INDEX = `create index if not exists tandem_key on ${SCHEMA}.job_common (singleton_key) where state <= 'active'`;

/** Held while a run is taken, so that tenant limits and "one per key" hold across workers. */
export const LOCK_TAKING = "select pg_advisory_xact_lock(hashtext('tandem_queue.take'))";

/**
 * For the places in $1 and the tenants in $2 (or all): the first two takeable runs of each queue, with the number of
 * running sessions of its tenant; and queues with a missed heartbeat, as `stale`. Uses a loose index scan over queues with
 * waiting runs, so its cost does not depend on idle queues or queue lengths.
 */
export const FIND_RUNNABLE = `
  with recursive q (name) as (
    (select name from ${SCHEMA}.job_common where state < 'active' and not blocked order by name limit 1)
    union all
    select (
      select j.name from ${SCHEMA}.job_common j
      where j.name > q.name and j.state < 'active' and not j.blocked order by j.name limit 1
    ) from q where q.name is not null
  ),
  busy as (
    select split_part(name, '/', 2) as tenant, count(*)::int as runs
    from ${SCHEMA}.job_common
    where state = 'active' and group_id is not null and split_part(name, '/', 3) = '' group by 1
  )
  select q.name, head.priority, (extract(epoch from head.created_on) * 1000)::float8 as since,
    coalesce(busy.runs, 0) as busy, false as stale
  from q
  cross join lateral (
    select j.priority, j.created_on from ${SCHEMA}.job_common j
    where j.name = q.name and j.state < 'active' and not j.blocked and j.start_after <= now()
      and not exists (
        select 1 from ${SCHEMA}.job_common a
        where a.name = j.name and a.state = 'active' and a.group_id is not null and a.group_id = j.group_id
      )
    order by j.priority desc, j.created_on limit 2
  ) head
  left join busy on busy.tenant = split_part(q.name, '/', 2)
  where split_part(q.name, '/', 1) = any($1) and ($2::text[] is null or split_part(q.name, '/', 2) = any($2))
  union all
  select distinct name, 0, 0::float8, 0, true from ${SCHEMA}.job_common
  where state = 'active' and group_id is not null and heartbeat_on + heartbeat_seconds * interval '1s' < now()`;

/**
 * Runs of queue $1 whose worker died are retried at once, because the cause may be unrelated; after a second death the
 * backoff applies.
 */
export const RETRY_NOW = `
  update ${SCHEMA}.job_common set start_after = now()
  where name = $1 and state = 'retry' and retry_count = 0 and output @> '{"value":{"message":"job heartbeat timeout"}}'
  returning 1`;

/** Before sending key $1 to queue $2: deletes its dead letter, and checks whether it waits for a retry. */
export const BEFORE_SEND = `
  with gone as (delete from ${SCHEMA}.job_common where name = 'dead' and singleton_key = $1 and state <= 'active')
  select 1 from ${SCHEMA}.job_common where singleton_key = $1 and name = $2 and state = 'retry' limit 1`;

/** A run of key $1 in queue $2 that has not been attempted. */
export const SENT_SINCE = `
  select 1 from ${SCHEMA}.job_common where singleton_key = $1 and name = $2 and state = 'created' limit 1`;
/** Deletes that run if the failing run (id $3, attempt $4) is still this worker's: one retry stands for both. */
export const FORGET_SENT = `
  delete from ${SCHEMA}.job_common where singleton_key = $1 and name = $2 and state = 'created' and exists (
    select 1 from ${SCHEMA}.job_common where name = $2 and id = $3 and retry_count = $4 and state = 'active'
  )`;

/** Deletes all runs of key $1, and notifies the worker that runs it, on channel $2. */
export const CANCEL = `
  with gone as (delete from ${SCHEMA}.job_common where singleton_key = $1 and state <= 'active' returning 1)
  select pg_notify($2, '!' || $1) from gone limit 1`;

/** Heartbeat for the runs with names $1, ids $2 and attempts $3; returns those that are still the worker's. */
export const BEAT = `
  update ${SCHEMA}.job_common j set heartbeat_on = now()
  from unnest($1::text[], $2::uuid[], $3::int[]) mine (name, id, attempt)
  where j.name = mine.name and j.id = mine.id and j.retry_count = mine.attempt and j.state = 'active'
  returning j.id`;

/**
 * Returns a taken run (queue $1, id $2, attempt $3, key $4) to the queue unchanged, unless another was sent in the
 * meantime. Notifies workers on channel $5.
 */
export const GIVE_BACK = `
  with sent as (select 1 from ${SCHEMA}.job_common where singleton_key = $4 and name = $1 and state = 'created'),
  back as (
    update ${SCHEMA}.job_common set state = 'created', started_on = null, heartbeat_on = null
    where name = $1 and id = $2 and retry_count = $3 and state = 'active' and not exists (select from sent) returning 1
  ),
  gone as (
    delete from ${SCHEMA}.job_common
    where name = $1 and id = $2 and retry_count = $3 and state = 'active' and exists (select from sent) returning 1
  )
  select pg_notify($5, $1)`;

export const DEPTH = `
  select name, count(*) filter (where state < 'active')::int as waiting,
    count(*) filter (where state = 'active')::int as running,
    (extract(epoch from now() - min(created_on) filter (where state < 'active')) * 1000)::float8 as oldest
  from ${SCHEMA}.job_common where state <= 'active' and name <> 'dead' group by name`;
