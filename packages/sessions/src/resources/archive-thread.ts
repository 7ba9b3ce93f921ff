import { RequestError, type SessionEventBody, type ThreadId } from "@tandem/protocol";
import type { SessionRow, ThreadRow } from "@tandem/storage";

interface ThreadOwner {
  row: SessionRow;
  threadOf(thread: ThreadId): ThreadRow | undefined;
}

/** The events that archive a thread; none if it is archived already. */
export function archiveThread(session: ThreadOwner, id: string, by?: string): SessionEventBody[] {
  if (id === session.row.primaryThread) {
    throw new RequestError("conflict", "The primary thread ends with its session.", {
      fix: "Archive the session instead.",
    });
  }
  const thread = session.threadOf(id as ThreadId);
  if (!thread) throw new RequestError("not_found", `The session ${session.row.id} has no thread ${id}.`);
  if (thread.archivedAt) return [];
  if (thread.status !== "idle") {
    throw new RequestError(
      "invalid_request",
      `The thread ${id} is ${thread.status}: only an idle thread can be archived.`,
      {
        fix: "Interrupt the session with user.interrupt, or wait until the thread is idle.",
      },
    );
  }
  return [
    {
      type: "session.thread_status_terminated",
      session_thread_id: thread.id,
      agent_name: thread.agent.name,
      ...(by !== undefined && { tandem: { by } }),
    },
  ];
}
