import type { ConversationHost, ToolCallRequest } from "@tandem/claude-code";
import type { EventId, Tool } from "@tandem/protocol";
import type { OpenCall } from "./open-turn.ts";
import { decide } from "./tool-policy.ts";
import type { Answer, WaitingRoom } from "./waiting-room.ts";

/** What a conversation asks of its session: judged by the agent's policy, answered by whoever is asked. */
export function createHost(session: {
  tools: readonly Tool[];
  room: WaitingRoom;
  /** Calls that have been allowed beforehand, by `grantKey`; each is used up by the first that fits. */
  grants: Set<string>;
  /** Calls whose use event is out. */
  calls: ReadonlyMap<EventId, OpenCall>;
  announce: () => void;
  onOutput: ConversationHost["onOutput"];
}): ConversationHost {
  const ask = (request: ToolCallRequest): Promise<Answer | undefined> => {
    const call = session.calls.get(request.eventId);
    if (!call) throw new Error(`The call ${request.eventId} was never announced.`);
    const answer = session.room.wait(call, request.signal);
    session.announce();
    return answer;
  };
  return {
    onOutput: session.onOutput,
    decide: (call) => {
      const decision = decide(session.tools, call);
      return decision.permission === "ask" && session.grants.delete(grantKey(call))
        ? { ...decision, permission: "allow" }
        : decision;
    },
    async confirm(request) {
      const answer = await ask(request);
      if (answer?.type !== "user.tool_confirmation") return { allow: false, message: "Nobody confirmed this call." };
      return answer.result === "allow"
        ? { allow: true }
        : { allow: false, message: answer.deny_message ?? "The user denied this call." };
    },
    async callCustomTool(request) {
      const answer = await ask(request);
      if (answer?.type !== "user.custom_tool_result") {
        return { content: [{ type: "text", text: "Nobody answered this call." }], isError: true };
      }
      return { content: answer.content ?? [], isError: answer.is_error ?? false };
    },
  };
}

/** What a grant is for: exactly this tool with exactly this input. */
export const grantKey = (call: { name: string; input: Record<string, unknown> }): string =>
  JSON.stringify([call.name, call.input]);
