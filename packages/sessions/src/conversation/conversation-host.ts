import type { Confirmation, ConversationHost, Decision } from "@tandem/claude-code";
import type { ApprovalNote, EventId, ThreadId } from "@tandem/protocol";
import { asksPerson, isPlan } from "../approvals/approval-note.ts";
import { readAnswers, refusal } from "../approvals/questions.ts";
import type { JudgedCall } from "@tandem/policy";
import type { SystemMessages } from "./system-messages.ts";
import type { PendingApprovals } from "../approvals/pending-approvals.ts";

/** Answers a conversation's requests: judges its calls by rules and policies, and asks people or clients. */
export function createHost(session: {
  judge: (call: JudgedCall) => Decision;
  /** The details of a call for the person who is asked. */
  note: (call: JudgedCall) => ApprovalNote;
  pending: PendingApprovals;
  systemMessages: SystemMessages;
  /** A call that a person allowed is about to run. Resolves when that is durable. */
  onRun: (call: EventId) => Promise<void>;
  admitThread: (thread: ThreadId) => Promise<boolean>;
  onOutput: ConversationHost["onOutput"];
  durable: () => Promise<void>;
}): ConversationHost {
  /** Calls that a person allowed to run. Plans and questions are not among them: the answer is their whole effect. */
  const allowed = new Set<EventId>();
  return {
    onOutput: session.onOutput,
    durable: session.durable,
    admitThread: session.admitThread,
    decide: (call) => {
      const judged = session.judge(call);
      const decision: Decision =
        judged.permission === "allow" && asksPerson(call) ? { ...judged, permission: "ask" } : judged;
      return decision.permission === "ask" ? { ...decision, approval: session.note(call) } : decision;
    },
    async confirm({ eventId, signal, name, mcpServer, input }): Promise<Confirmation> {
      const answer = session.pending.confirmationOf(eventId) ?? (await session.pending.wait(eventId, signal));
      if (!answer || answer.type === "user.tool_result")
        return { allow: false, message: "This call was not confirmed." };
      if (answer.type === "user.custom_tool_result") {
        const { content = [], is_error: isError } = answer;
        // Never trust a value that the model put there.
        return isError
          ? { allow: false, message: refusal(content) }
          : { allow: true, input: { ...input, answers: readAnswers(input, content) } };
      }
      if (answer.result === "deny") {
        return { allow: false, message: answer.deny_message ?? "The user denied this call." };
      }
      if (isPlan({ name, mcpServer })) return { allow: true, mode: answer.tandem?.mode ?? "default" };
      allowed.add(eventId);
      const changed = answer.tandem?.input;
      if (!changed) return { allow: true };
      const context = `The user changed the input of this call before allowing it. It is made with ${JSON.stringify(changed)}`;
      return { allow: true, input: changed, context };
    },
    async starting({ eventId }) {
      if (allowed.delete(eventId)) await session.onRun(eventId);
    },
    async callCustomTool(request) {
      const answer = await session.pending.wait(request.eventId, request.signal);
      if (!answer || answer.type === "user.tool_confirmation") {
        return { content: [{ type: "text", text: "This call was not answered." }], isError: true };
      }
      const content = [...session.systemMessages.take(), ...(answer.content ?? [])];
      return { content, isError: answer.is_error ?? false };
    },
  };
}
