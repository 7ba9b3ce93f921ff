import { isId, type SessionId } from "@tandem/protocol";
import type { Lease } from "@tandem/storage";
import type { SharedKey } from "../http/access/shared-key.ts";

/** A lease that another worker says it has taken. */
export type TakenLease = Pick<Lease, "session" | "token">;

const partsOf = ({ session, token }: TakenLease) => ["taken", session, token];

/**
 * The path of a worker's question to the former holder of a lease: the answer comes when that has no process of the session any
 * more. Signed instead of sent with a token, because the former holder may have no database to check one. Sent again, the same
 * question changes nothing: it ends leases older than its own only.
 */
export async function askAboutTaken(lease: TakenLease, key: SharedKey): Promise<string> {
  const { session, token } = lease;
  const query = new URLSearchParams({ taken: session, lease: String(token), proof: await key.sign(partsOf(lease)) });
  return `/readyz?${query.toString()}`;
}

/** Undefined if the request is not such a question of a process of this fleet. */
export async function readTaken(query: Record<string, string>, key: SharedKey): Promise<TakenLease | undefined> {
  const { taken: session = "", lease = "", proof = "" } = query;
  if (!isId("session", session) || !/^\d{1,15}$/.test(lease)) return undefined;
  const asked: { session: SessionId; token: number } = { session, token: Number(lease) };
  return (await key.isSigned(partsOf(asked), proof)) ? asked : undefined;
}
