import { RequestError, type Session } from "@tandem/protocol";
import type { SessionsClient } from "./sessions-client.ts";

/** Finds a session by id. `last` is the newest. */
export async function findSession({ sessions }: SessionsClient, idOrLast: string): Promise<Session> {
  if (idOrLast !== "last") return sessions.get(idOrLast);
  const [session] = (await sessions.list({ limit: 1, order: "desc" })).data;
  if (session) return session;
  throw new RequestError("not_found", "There are no sessions yet.", { fix: 'Begin one: tandem run "…".' });
}
