import { newId, RequestError, type SessionEventBody, type ThreadId } from "@tandem/protocol";
import type { InputQueue, SessionRow, ThreadRow, WaitingFor } from "@tandem/storage";
import { THREAD_ENDED } from "../approvals/call-refused.ts";
import type { Answer } from "../approvals/pending-calls.ts";
import { unansweredCalls } from "../log/unanswered-calls.ts";
import { checkNoOpenRun } from "../workflows/check-no-open-run.ts";
import type { OpenRuns } from "../log/open-runs.ts";

interface ThreadOwner {
  row: SessionRow;
  threadOf(thread: ThreadId): ThreadRow | undefined;
  runs: OpenRuns;
}

interface Archiving {
  inputQueue: Pick<InputQueue, "put">;
  by: string | undefined;
}

/**
 * The events that archive a thread; none if it is archived already. A thread that waits for an answer is idle: its calls are
 * denied through the input queue, which the session reads once the events are written.
 */
export async function archiveThread(
  session: ThreadOwner,
  id: string,
  { inputQueue, by }: Archiving,
): Promise<SessionEventBody[]> {
  if (id === session.row.primaryThread) {
    throw new RequestError("conflict", "The primary thread ends with its session.", {
      fix: "Archive the session instead.",
    });
  }
  const thread = session.threadOf(id as ThreadId);
  if (!thread) throw new RequestError("not_found", `The session ${session.row.id} has no thread ${id}.`);
  if (thread.archivedAt) return [];
  if (thread.workflowRunId !== undefined) checkNoOpenRun(session.runs, thread.workflowRunId);
  const waiting = unansweredCalls(session.row).filter((call) => call.thread === id);
  if (thread.status !== "idle" && waiting.length === 0) {
    throw new RequestError(
      "invalid_request",
      `The thread ${id} is ${thread.status}: only an idle thread can be archived.`,
      {
        fix: "Interrupt the session with user.interrupt, or wait until the thread is idle.",
      },
    );
  }
  if (waiting.length > 0) {
    await inputQueue.put(
      session.row.id,
      waiting.map((call) => denial(call, by ?? "unknown")),
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

function denial({ event_id: call, type }: WaitingFor, by: string): Answer {
  const place = { id: newId("event"), processed_at: null };
  if (type === "tool_confirmation") {
    const denied = { tool_use_id: call, result: "deny" as const, deny_message: THREAD_ENDED };
    return { type: "user.tool_confirmation", ...denied, tandem: { scope: "once", by }, ...place };
  }
  const content = [{ type: "text" as const, text: THREAD_ENDED }];
  if (type === "tool_result") {
    return { type: "user.tool_result", tool_use_id: call, content, is_error: true, tandem: { by }, ...place };
  }
  return {
    type: "user.custom_tool_result",
    custom_tool_use_id: call,
    content,
    is_error: true,
    tandem: { by },
    ...place,
  };
}
