import type { SessionId } from "@tandem/protocol";
import type { Database } from "./database.ts";
import { noSuchSession } from "./inbox.ts";
import { operation } from "./operation.ts";
import { all, join, one, sql, type Work } from "./sql.ts";
import type { Lease, Leases } from "./store.ts";
import { toIso } from "./time.ts";

// Whether a lease has run out is judged by the database's clock, which all its processes share.

const take = operation("leases.take", function* (args: { session: string; holder: string; ttlMs: number }): Work<
  number | undefined
> {
  const { session, holder, ttlMs } = args;
  const taken = yield* one(sql<{ token: number }>`
    update log set lease_token = lease_token + 1, lease_holder = ${holder}, lease_until = now_ms() + ${ttlMs}
    where session = ${session} and (lease_holder is null or lease_until < now_ms())
    returning lease_token as token`);
  if (taken) return taken.token;
  if (!(yield* one(sql`select 1 from log where session = ${session}`))) throw noSuchSession(session);
  return undefined;
});

/** As many as one statement takes comfortably. */
const RENEWED_AT_ONCE = 500;

const renew = operation("leases.renew", function* (args: { leases: readonly Lease[]; ttlMs: number }): Work<string[]> {
  const kept: string[] = [];
  for (let from = 0; from < args.leases.length; from += RENEWED_AT_ONCE) {
    const pairs = args.leases
      .slice(from, from + RENEWED_AT_ONCE)
      .map(({ session, token }) => sql`(${session}, cast(${token} as bigint))`);
    const rows = yield* all(sql<{ session: string }>`
      update log set lease_until = now_ms() + ${args.ttlMs}
      where (session, lease_token) in (values ${join(pairs, ", ")}) and lease_holder is not null
      returning session`);
    kept.push(...rows.map(({ session }) => session));
  }
  return kept;
});

// The token stays, so that it is never given out again.
const release = operation("leases.release", function* ({ session, token }: Lease): Work<void> {
  yield sql`update log set lease_holder = null, lease_until = null where session = ${session} and lease_token = ${token}`;
});

const holder = operation("leases.holder", function* (session: string): Work<
  { holder: string; until: number } | undefined
> {
  return yield* one(sql<{ holder: string; until: number }>`
    select lease_holder as holder, lease_until as until from log
    where session = ${session} and lease_holder is not null and lease_until >= now_ms()`);
});

const abandoned = operation("leases.abandoned", function* (): Work<{ id: string }[]> {
  return yield* all(sql<{ id: string }>`
    select session.id from session join log on log.session = session.id
    where session.status in ('running', 'rescheduling') and (lease_holder is null or lease_until < now_ms())
    order by session.id`);
});

export function createLeases(database: Database): Leases {
  return {
    take: async (session, holder, ttlMs) => {
      const token = await database.write(take, { session, holder, ttlMs }, session);
      return token === undefined ? undefined : { session, token };
    },
    renew: async (leases, ttlMs) => {
      if (leases.length === 0) return [];
      const kept = new Set(await database.write(renew, { leases, ttlMs }));
      return leases.filter(({ session }) => !kept.has(session));
    },
    release: (lease) => database.write(release, lease, lease.session),
    holder: async (session) => {
      const found = await database.read(holder, session);
      return found && { holder: found.holder, expiresAt: toIso(found.until) };
    },
    abandoned: async () => (await database.read(abandoned, undefined)).map(({ id }) => id as SessionId),
  };
}
