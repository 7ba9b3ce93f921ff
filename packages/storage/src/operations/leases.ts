import { operation } from "../operation.ts";
import { noSuchSession } from "../refusal.ts";
import { all, one, sql, type Work } from "../sql.ts";
import type { LogLease } from "./fence.ts";

// Whether a lease has run out is judged by the database's clock, which all its processes share.

/** The token; undefined if somebody else holds it. */
export const takeLease = operation(
  "leases.take",
  function* (args: { session: string; holder: string; ttlMs: number }): Work<number | undefined> {
    const { session, holder, ttlMs } = args;
    const taken = yield* one(sql<{ token: number }>`
    update log set lease_token = lease_token + 1, lease_holder = ${holder}, lease_until = now_ms() + ${ttlMs}
    where session = ${session} and (lease_holder is null or lease_until < now_ms())
    returning lease_token as token`);
    if (taken) return taken.token;
    if (!(yield* one(sql`select 1 from log where session = ${session}`))) throw noSuchSession(session);
    return undefined;
  },
);

/** The sessions whose leases were kept. In the order of sessions, as all who write several at once. */
export const renewLeases = operation(
  "leases.renew",
  function* (args: { leases: readonly LogLease[]; ttlMs: number }): Work<string[]> {
    const kept: string[] = [];
    for (const { session, token } of args.leases.toSorted((a, b) => (a.session < b.session ? -1 : 1))) {
      const row = yield* one({
        ...sql<{ session: string }>`
        update log set lease_until = now_ms() + ${args.ttlMs}
        where session = ${session} and lease_token = ${token} and lease_holder is not null
        returning session`,
        name: "renew",
      });
      if (row) kept.push(row.session);
    }
    return kept;
  },
);

// The token stays, so that it is never given out again.
export const releaseLease = operation("leases.release", function* ({ session, token }: LogLease): Work<void> {
  yield sql`update log set lease_holder = null, lease_until = null where session = ${session} and lease_token = ${token}`;
});

interface Holder {
  holder: string;
  until: number;
}

export const readHolder = operation("leases.holder", function* (session: string): Work<Holder | undefined> {
  return yield* one(sql<Holder>`
    select lease_holder as holder, lease_until as until from log
    where session = ${session} and lease_holder is not null and lease_until >= now_ms()`);
});

export const findAbandoned = operation("leases.abandoned", function* (): Work<{ id: string }[]> {
  return yield* all(sql<{ id: string }>`
    select session.id from session join log on log.session = session.id
    where session.status in ('running', 'rescheduling') and (lease_holder is null or lease_until < now_ms())
    order by session.id`);
});

/** Unheld and with something to do. In the order in which they began to wait, as far as that is known. */
export const findWanted = operation("leases.wanted", function* (): Work<
  { id: string; place: string | null; since: number }[]
> {
  return yield* all(sql<{ id: string; place: string | null; since: number }>`
    select session.id, session.place, session.updated_at as since from session join log on log.session = session.id
    where session.status in ('running', 'rescheduling') and (lease_holder is null or lease_until < now_ms())
    union all
    select session.id, session.place, inbox.put_at as since
    from (select session, min(position) as position from inbox group by session) as first
    join inbox on inbox.session = first.session and inbox.position = first.position
    join session on session.id = first.session
    join log on log.session = first.session
    where session.status not in ('running', 'rescheduling') and (lease_holder is null or lease_until < now_ms())
    order by 3, 1`);
});

export const listHeld = operation("leases.held", function* (): Work<(Holder & { session: string })[]> {
  return yield* all(sql<Holder & { session: string }>`
    select session, lease_holder as holder, lease_until as until from log
    where lease_holder is not null and lease_until >= now_ms() order by lease_holder`);
});
