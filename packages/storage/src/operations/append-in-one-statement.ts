import { DUE, FIRST_DUE, WANTED, WEBHOOKS } from "../announcements.ts";
import { Refusal } from "../refusal.ts";
import { assign, join, list, one, raw, sql, type Sql, type Work } from "../sql-statement.ts";
import type { AnnouncementRow } from "./announcements.ts";
import { PREPARED_ROWS, type AppendArgs, type EventRow } from "./event-rows.ts";
import { needsState, type ChangeRow } from "./session-rows.ts";

/**
 * For Postgres: the fence, the events, the input that they consume, the session's row and its announcements in one round trip
 * instead of seven. Every part selects from the fence, so none is written without the lease. Undefined for an append that has
 * to read something first, and for the rare ones with threads or a new agent.
 */
export function appendInOneStatement(args: AppendArgs): Work<number> | undefined {
  const { rows, threads, change } = args;
  const needsMore = threads.length > 0 || rows.length > PREPARED_ROWS || change?.agent !== undefined;
  return needsMore || (change && needsState(change)) ? undefined : append(args);
}

function* append({ lease, rows, taken, change, announce }: AppendArgs): Work<number> {
  const { session, token } = lease;
  const count = raw(String(rows.length));
  const advance = rows.length > 0 ? sql`seq = seq + ${count}` : sql`lease_token = lease_token`;
  const parts = [
    sql`fence as (
      update log set ${advance} where session = ${session} and lease_token = ${token} and lease_holder is not null
      returning number, seq - ${count} + 1 as first
    )`,
    ...(rows.length > 0 ? [sql`stored as (${insertRows(rows)})`] : []),
    ...(taken.length > 0
      ? [sql`taken as (delete from inbox using fence where inbox.session = ${session} and inbox.id in ${list(taken)})`]
      : []),
    ...(change ? [sql`changed as (${update(session, change)})`] : []),
    ...(announce.length > 0 ? [sql`announced as (${insertDeliveries(announce)})`] : []),
  ];
  const statement = sql<{ first: number }>`with ${join(parts, ", ")} select first from fence`;
  const isFrequent = taken.length + announce.length + Object.keys(columnsOf(change)).length === 0;
  const name = isFrequent && `append_${rows.length}${change ? "_touch" : ""}`;
  const row = yield* one({ ...statement, ...(name && { name }) });
  if (!row) throw new Refusal({ type: "lease_lost", session });
  return row.first;
}

const columnsOf = (change: ChangeRow | undefined): ChangeRow["columns"] => ({
  ...change?.columns,
  ...(change?.whole !== undefined && { state: change.whole }),
});

function insertRows(rows: readonly EventRow[]): Sql {
  const values = rows.map(({ id, thread, type, at, shown, body }, index) =>
    index === 0
      ? sql`(0, ${id}, ${thread}, ${type}, cast(${at} as bigint), cast(${shown} as bigint), ${body})`
      : sql`(${raw(String(index))}, ${id}, ${thread}, ${type}, ${at}, ${shown}, ${body})`,
  );
  return sql`insert into event (log, seq, id, thread, type, at, shown, body)
    select fence.number, fence.first + fresh.position, id, thread, type, at, shown, body
    from fence, (values ${join(values, ", ")}) as fresh (position, id, thread, type, at, shown, body)`;
}

function update(session: string, change: ChangeRow): Sql {
  const columns = columnsOf(change);
  const set = Object.keys(columns).length > 0 ? sql`${assign(columns)}, ` : sql``;
  return sql`update session set ${set}updated_at = now_ms() from fence where session.id = ${session}`;
}

/** As `announce`: "0" is the character after "/", and a key is the type and the endpoint. */
function insertDeliveries(announcements: readonly AnnouncementRow[]): Sql {
  const values = announcements.map(({ type, id, at, value }, index) =>
    index === 0 ? sql`(${type}, ${id}, cast(${at} as bigint), ${value})` : sql`(${type}, ${id}, ${at}, ${value})`,
  );
  return sql`insert into record (space, kind, key, version, updated_at, value)
    select ${WEBHOOKS}, ${DUE}, split_part(wanted.key, '/', 2) || ${`/${FIRST_DUE}/`} || fresh.id, 1, fresh.at, fresh.value
    from fence, (values ${join(values, ", ")}) as fresh (type, id, at, value)
    join record as wanted on wanted.key > fresh.type || '/' and wanted.key < fresh.type || '0'
    where wanted.space = ${WEBHOOKS} and wanted.kind = ${WANTED}
    on conflict (space, kind, key) do nothing`;
}
