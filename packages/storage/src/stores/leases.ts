import type { SessionId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import type { LogLease } from "../operations/fence.ts";
import {
  findAbandoned,
  findWanted,
  listHeld,
  readHolder,
  releaseLease,
  renewLeases,
  takeLease,
} from "../operations/leases.ts";
import type { Lease, Leases } from "../store.ts";
import { toIso } from "./time.ts";

/** Only that: callers may carry theirs in something larger, which need not travel. */
export const plainLease = ({ session, token }: Lease): Lease => ({ session, token });

/** While they are renewed together, nobody can append to them. */
const RENEWED_AT_ONCE = 25;

/** Returns whose were kept. */
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
      // Not among the writes of sessions: it may have to wait for a holder that was stopped while it wrote.
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
    wanted: async () =>
      (await database.read(findWanted, undefined)).map(({ id, place, since }) => ({
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
