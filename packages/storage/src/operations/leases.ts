import { operation } from "../operation.ts";
import { noSuchSession } from "../refusal.ts";
import { all, join, list, one, sql, type Work } from "../sql-statement.ts";
import type { LogLease } from "./fence.ts";
import { isUnfinished } from "./sessions.ts";

// Expiry is judged by the database's clock, which all processes share. The clock of a SQLite file is that of the machine,
// which may be set back: then `stale` names a lease that no living process holds, although it has not expired.

/** A lease in the state in which the caller saw it. */
export interface SeenLease {
  token: number;
  until: number;
}

/**
 * Returns the token and the holder until now; undefined if another process holds the lease. Only Postgres knows the former holder:
 * SQLite runs the inner query after the update.
 */
export const takeLease = operation(
  "leases.take",
  function* (args: {
    session: string;
    holder: string;
    ttlMs: number;
    stale?: SeenLease | undefined;
    onlyReleased?: boolean | undefined;
  }): Work<{ token: number; former: string | null } | undefined> {
    const { session, holder, ttlMs, stale = { token: -1, until: -1 }, onlyReleased } = args;
    const isFree = onlyReleased ? sql`lease_holder = ${holder}` : sql`lease_until < now_ms()`;
    const taken = yield* one(sql<{ token: number; former: string | null }>`
    update log set lease_token = lease_token + 1, lease_holder = ${holder}, lease_until = now_ms() + ${ttlMs}
    where session = ${session} and (
      lease_holder is null or ${isFree} or (lease_token = ${stale.token} and lease_until = ${stale.until})
    )
    returning lease_token as token,
      (select nullif(before.lease_holder, ${holder}) from log as before where before.session = log.session) as former`);
    if (taken) return taken;
    if (!(yield* one(sql`select 1 from log where session = ${session}`))) throw noSuchSession(session);
    return undefined;
  },
);

/**
 * Returns the sessions whose leases were extended. Rows are locked in session order, to avoid deadlocks with other
 * multi-row writers.
 */
export const renewLeases = operation("leases.renew", renew, { single: renewInOneStatement });

interface RenewArgs {
  leases: readonly LogLease[];
  ttlMs: number;
}

function* renew({ leases, ttlMs }: RenewArgs): Work<string[]> {
  const kept: string[] = [];
  for (const { session, token } of leases.toSorted((a, b) => (a.session < b.session ? -1 : 1))) {
    const row = yield* one({
      ...sql<{ session: string }>`
        update log set lease_until = now_ms() + ${ttlMs}
        where session = ${session} and lease_token = ${token} and lease_holder is not null
        returning session`,
      name: "renew",
    });
    if (row) kept.push(row.session);
  }
  return kept;
}

/** A busy machine may need longer than a very short lease. */
const LEAST_TIMEOUT_MS = 1_000;

/** One round trip: with a slow connection, several could outlast the lease. */
function* renewInOneStatement({ leases, ttlMs }: RenewArgs): Work<string[]> {
  const held = leases.map(({ session, token }) => sql`(${session}, cast(${token} as bigint))`);
  const rows = yield* all({
    ...sql<{ session: string }>`
      with held as (
        select session from log where (session, lease_token) in (values ${join(held, ", ")}) and lease_holder is not null
        order by session for no key update
      )
      update log set lease_until = now_ms() + ${ttlMs} from held where log.session = held.session returning log.session`,
    // A later answer says nothing about the lease. Until then, a renewal on a dead connection keeps it from the pool.
    timeoutMs: Math.max(ttlMs, LEAST_TIMEOUT_MS),
  });
  return rows.map(({ session }) => session);
}

// Keeps the token, so that it is never issued twice.
export const releaseLease = operation("leases.release", function* ({ session, token }: LogLease): Work<void> {
  yield sql`update log set lease_holder = null, lease_until = null where session = ${session} and lease_token = ${token}`;
});

interface Holder extends SeenLease {
  holder: string;
}

export const readHolder = operation("leases.holder", function* (session: string): Work<Holder | undefined> {
  return yield* one(sql<Holder>`
    select lease_holder as holder, lease_token as token, lease_until as until from log
    where session = ${session} and lease_holder is not null and lease_until >= now_ms()`);
});

export const findAbandoned = operation("leases.abandoned", function* (): Work<{ id: string }[]> {
  return yield* all(sql<{ id: string }>`
    select session.id from session join log on log.session = session.id
    where ${isUnfinished} and ${isUnheld}
    order by session.created_at, session.id`);
});

export interface UnclaimedSession {
  id: string;
  place: string | null;
  since: number;
}

/** With more ids in one statement, the planner may choose a full scan. */
const LOOKED_UP_AT_ONCE = 200;
const isUnheld = sql`(lease_holder is null or lease_until < now_ms())`;

/**
 * Sessions with work and without a valid lease, longest waiting first. In bounded steps, so that the planner uses its
 * indexes.
 */
export const findUnclaimed = operation("leases.wanted", function* (): Work<UnclaimedSession[]> {
  const found = yield* all(sql<UnclaimedSession>`
    select session.id, session.place, session.updated_at as since from session join log on log.session = session.id
    where ${isUnfinished} and ${isUnheld} order by session.created_at, session.id`);
  const waiting = yield* all(sql<{ session: string; since: number }>`
    select session, min(put_at) as since from inbox group by session order by session`);
  for (let from = 0; from < waiting.length; from += LOOKED_UP_AT_ONCE) {
    const some = new Map(
      waiting.slice(from, from + LOOKED_UP_AT_ONCE).map(({ session, since }) => [session, since] as const),
    );
    const rows = yield* all(sql<{ id: string; place: string | null }>`
      select session.id, session.place from session join log on log.session = session.id
      where session.id in ${list([...some.keys()])} and not (${isUnfinished}) and ${isUnheld}`);
    for (const row of rows) found.push({ ...row, since: some.get(row.id)! });
  }
  return found.toSorted((a, b) => a.since - b.since);
});

export const listHeld = operation("leases.held", function* (): Work<(Holder & { session: string })[]> {
  return yield* all(sql<Holder & { session: string }>`
    select session, lease_holder as holder, lease_token as token, lease_until as until from log
    where lease_holder is not null and lease_until >= now_ms() order by lease_holder`);
});

/** The holders of all leases, also of expired ones. */
export const listHolders = operation("leases.holders", function* (): Work<string[]> {
  const found = yield* all(sql<{ holder: string }>`
    select distinct lease_holder as holder from log where lease_holder is not null`);
  return found.map(({ holder }) => holder);
});

/** Releases all leases of a holder that has died. It cannot write any more: a write needs a held lease. */
export const releaseHolder = operation("leases.releaseHolder", function* (holder: string): Work<void> {
  const held = yield* all(
    sql<{ session: string }>`select session from log where lease_holder = ${holder} order by session`,
  );
  for (const { session } of held) {
    yield sql`update log set lease_holder = null, lease_until = null
      where session = ${session} and lease_holder = ${holder}`;
  }
});
