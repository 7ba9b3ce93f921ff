import { RequestError } from "@tandem/protocol";
import type { SessionRow, Store } from "@tandem/storage";

type Sessions = Pick<Store["sessions"], "get">;

export async function findSessionRow(sessions: Sessions, id: string): Promise<SessionRow> {
  const row = await sessions.get(id);
  if (row) return row;
  throw new RequestError("not_found", `There is no session ${id}.`);
}

/** Rejects for an archived session, too. */
export async function findOpenSession(sessions: Sessions, id: string): Promise<SessionRow> {
  const row = await findSessionRow(sessions, id);
  if (!row.archivedAt) return row;
  throw new RequestError("invalid_request", `The session ${id} is archived and accepts no messages.`);
}
