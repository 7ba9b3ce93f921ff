import type { SessionId } from "@tandem/protocol";
import type { Database } from "../database.ts";
import { findAbandoned, readHolder, releaseLease, renewLeases, takeLease } from "../operations/leases.ts";
import type { Lease, Leases } from "../store.ts";
import { toIso } from "./time.ts";

/** Only that: callers may carry theirs in something larger, which need not travel. */
export const plainLease = ({ session, token }: Lease): Lease => ({ session, token });

export function createLeases(database: Database): Leases {
  return {
    take: async (session, holder, ttlMs) => {
      const token = await database.write(takeLease, { session, holder, ttlMs }, session);
      return token === undefined ? undefined : { session, token };
    },
    renew: async (leases, ttlMs) => {
      if (leases.length === 0) return [];
      const kept = new Set(await database.write(renewLeases, { leases: leases.map(plainLease), ttlMs }));
      return leases.filter(({ session }) => !kept.has(session));
    },
    release: (lease) => database.write(releaseLease, plainLease(lease), lease.session),
    holder: async (session) => {
      const found = await database.read(readHolder, session);
      return found && { holder: found.holder, expiresAt: toIso(found.until) };
    },
    abandoned: async () => (await database.read(findAbandoned, undefined)).map(({ id }) => id as SessionId),
  };
}
