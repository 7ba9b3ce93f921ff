import { Refusal } from "../refusal.ts";
import { one, sql, type Work } from "../sql-statement.ts";

/** The right to write one log, of a session or a job. */
export interface LogLease {
  session: string;
  token: number;
}

/**
 * Checks that the writer still holds its lease. Updating the row also locks it, so the lease cannot be lost before the
 * transaction ends. With `count`, allocates that many sequence numbers; a rollback returns them.
 */
export function* fence({ session, token }: LogLease, count = 0): Work<{ number: number; seq: number }> {
  const advance = count > 0 ? sql`seq = seq + ${count}` : sql`lease_token = lease_token`;
  const statement = sql<{ number: number; seq: number }>`
    update log set ${advance}
    where session = ${session} and lease_token = ${token} and lease_holder is not null
    returning number, seq`;
  const row = yield* one({ ...statement, name: count > 0 ? "advance" : "fence" });
  if (!row) throw new Refusal({ type: "lease_lost", session });
  return row;
}
