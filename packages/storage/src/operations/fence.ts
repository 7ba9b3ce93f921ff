import { Refusal } from "../refusal.ts";
import { one, sql, type Work } from "../sql.ts";

/** The right to write a log: a session's, or a job's. */
export interface LogLease {
  session: string;
  token: number;
}

/**
 * Makes sure that the writer still holds its lease, and that it does until the transaction ends: the row is written, and so
 * locked. With `count`, also gives out that many sequence numbers; they come back with the transaction if it is undone.
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
