import { RequestError, type Thread, type ThreadId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";

export async function findThread(sessions: Sessions, session: string, id: string): Promise<Thread> {
  const found = (await sessions.threads(session)).find((thread) => thread.id === id);
  if (found) return found;
  throw new RequestError("not_found", `The session ${session} has no thread ${id}.`);
}

/** The id in the log, where the primary thread is null. */
export const inLog = ({ id, parent_thread_id: parent }: Thread): ThreadId | null =>
  parent === null ? null : (id as ThreadId);
