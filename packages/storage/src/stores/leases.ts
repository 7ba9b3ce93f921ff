import type { SessionId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import type { LogLease } from "../operations/fence.ts";
import {
  findAbandoned,
  findUnclaimed,
  listHeld,
  listHolders,
  readHolder,
  releaseHolder,
  releaseLease,
  renewLeases,
  type SeenLease,
  takeLease,
} from "../operations/leases.ts";
import type { Leases } from "../store.ts";
import type { Lease } from "../lease.ts";
import { holderName, isHolderDead, withProcess } from "../local-process.ts";
import { toIso } from "../rows/time.ts";

/** Callers may pass a larger object; only these two fields go to the worker thread. */
export const plainLease = ({ session, token }: Lease): Lease => ({ session, token });

/** A renewal locks the rows and so blocks appends; small batches keep that short. */
const RENEWED_AT_ONCE = 25;

/** Returns the sessions whose leases were extended. */
export async function renewAll(
  database: Database,
  leases: readonly LogLease[],
  ttlMs: number,
): Promise<ReadonlySet<string>> {
  const kept = new Set<string>();
  for (let from = 0; from < leases.length; from += RENEWED_AT_ONCE) {
    const some = leases.slice(from, from + RENEWED_AT_ONCE);
    for (const session of await database.write(renewLeases, { leases: some, ttlMs })) kept.add(session);
  }
  return kept;
}

/** Releases the leases of processes of this machine that have ended. Returns whether there were any. */
export async function releaseDead(database: Database): Promise<boolean> {
  const dead = (await database.read(listHolders, undefined)).filter((holder) => isDead(database, holder));
  for (const holder of dead) await database.write(releaseHolder, holder);
  return dead.length > 0;
}

/** Only processes of one machine use a SQLite file. */
const isDead = ({ engine }: Database, holder: string): boolean => isHolderDead(holder, engine !== "sqlite");

/**
 * A living holder renews its lease several times per TTL. One that stays the same for this many TTLs, by the monotonic
 * clock, has no holder: the wall clock was set back after a crash.
 */
const STALE_TTLS = 3;

export function createLeases(database: Database): Leases {
  const seen = new Map<SessionId, SeenLease & { since: number }>();

  /** The lease that keeps the caller from the session, if no living process renews it. */
  const findStale = async (session: SessionId, ttlMs: number): Promise<SeenLease | undefined> => {
    const held = await database.read(readHolder, session);
    if (!held) return undefined;
    const before = seen.get(session);
    const isSame = before?.token === held.token && before.until === held.until;
    const now = performance.now();
    if (isSame) return now - before.since > STALE_TTLS * ttlMs ? before : undefined;
    seen.set(session, { token: held.token, until: held.until, since: now });
    return undefined;
  };

  return {
    take: async (session, name, ttlMs, { onlyReleased } = {}) => {
      const holder = withProcess(name);
      // Not in the session's write queue: it can block behind a holder that was suspended in mid-write.
      let taken = await database.write(takeLease, { session, holder, ttlMs, onlyReleased });
      if (!taken && (await releaseDead(database))) {
        taken = await database.write(takeLease, { session, holder, ttlMs, onlyReleased });
      }
      // Postgres judges expiry by its own clock, a SQLite file by the clock of the machine, which may be set back.
      if (!taken && database.engine === "sqlite") {
        const stale = await findStale(session, ttlMs);
        if (stale) {
          const { token, until } = stale;
          taken = await database.write(takeLease, { session, holder, ttlMs, stale: { token, until } });
        }
      }
      if (!taken) return undefined;
      seen.delete(session);
      const { token, former } = taken;
      return { session, token, ...(former !== null && { former: holderName(former) }) };
    },
    renew: async (leases, ttlMs) => {
      const kept = await renewAll(database, leases.map(plainLease), ttlMs);
      return leases.filter(({ session }) => !kept.has(session));
    },
    release: (lease) => database.write(releaseLease, plainLease(lease), lease.session),
    holder: async (session) => {
      const found = await database.read(readHolder, session);
      if (!found || isDead(database, found.holder)) return undefined;
      return { holder: holderName(found.holder), expiresAt: toIso(found.until) };
    },
    abandoned: async () => {
      await releaseDead(database);
      return (await database.read(findAbandoned, undefined)).map(({ id }) => id as SessionId);
    },
    waitingForWorker: async () => {
      await releaseDead(database);
      return (await database.read(findUnclaimed, undefined)).map(({ id, place, since }) => ({
        session: id as SessionId,
        place,
        since: toIso(since),
      }));
    },
    held: async () =>
      (await database.read(listHeld, undefined))
        .filter(({ holder }) => !isDead(database, holder))
        .map(({ session, holder, until }) => ({
          session: session as SessionId,
          holder: holderName(holder),
          expiresAt: toIso(until),
        })),
  };
}
