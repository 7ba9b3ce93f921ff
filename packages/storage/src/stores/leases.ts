import type { SessionId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import type { LogLease } from "../operations/fence.ts";
import {
  findAbandoned,
  findUnclaimed,
  listHeld,
  readHolder,
  releaseLease,
  renewLeases,
  takeLease,
} from "../operations/leases.ts";
import type { Leases } from "../store.ts";
import type { Lease } from "../lease.ts";
import { toIso } from "./rows/time.ts";

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

export function createLeases(database: Database): Leases {
  return {
    take: async (session, holder, ttlMs) => {
      // Not in the session's write queue: it can block behind a holder that was suspended in mid-write.
      const token = await database.write(takeLease, { session, holder, ttlMs });
      return token === undefined ? undefined : { session, token };
    },
    renew: async (leases, ttlMs) => {
      const kept = await renewAll(database, leases.map(plainLease), ttlMs);
      return leases.filter(({ session }) => !kept.has(session));
    },
    release: (lease) => database.write(releaseLease, plainLease(lease), lease.session),
    holder: async (session) => {
      const found = await database.read(readHolder, session);
      return found && { holder: found.holder, expiresAt: toIso(found.until) };
    },
    abandoned: async () => (await database.read(findAbandoned, undefined)).map(({ id }) => id as SessionId),
    waitingForWorker: async () =>
      (await database.read(findUnclaimed, undefined)).map(({ id, place, since }) => ({
        session: id as SessionId,
        place,
        since: toIso(since),
      })),
    held: async () =>
      (await database.read(listHeld, undefined)).map(({ session, holder, until }) => ({
        session: session as SessionId,
        holder,
        expiresAt: toIso(until),
      })),
  };
}
