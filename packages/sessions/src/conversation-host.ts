import type { ConversationHost, HostServer } from "@tandem/claude-code";
import type { ThreadId, Tool } from "@tandem/protocol";
import type { OpenCall } from "./open-turn.ts";
import { decide, decideHosted, stricter } from "./tool-policy.ts";
import type { WaitingRoom } from "./waiting-room.ts";

/** What a conversation asks of its session: judged by the agent's policy, answered by whoever is asked. */
export function createHost(session: {
  tools: readonly Tool[];
  /** The tools of the agent that a subagent's thread belongs to, if it is one of the roster. */
  toolsOf: (thread: ThreadId) => readonly Tool[] | undefined;
  hostServers: readonly HostServer[];
  room: WaitingRoom;
  /** Calls that have been allowed beforehand, by `grantKey`; each is used up by the first that fits. */
  grants: Set<string>;
  onOutput: ConversationHost["onOutput"];
}): ConversationHost {
  return {
    onOutput: session.onOutput,
    decide: (call) => {
      const own = call.thread === null ? undefined : session.toolsOf(call.thread);
      const hosted = decideHosted(session.hostServers, call);
      const root = hosted ?? decide(session.tools, call);
      const decision = own && !hosted ? stricter(root, decide(own, call)) : root;
      return decision.permission === "ask" && session.grants.delete(grantKey(call))
        ? { ...decision, permission: "allow" }
        : decision;
    },
    async confirm(request) {
      const answer = await session.room.wait(request.eventId, request.signal);
      if (answer?.type !== "user.tool_confirmation") return { allow: false, message: "Nobody confirmed this call." };
      return answer.result === "allow"
        ? { allow: true }
        : { allow: false, message: answer.deny_message ?? "The user denied this call." };
    },
    async callCustomTool(request) {
      const answer = await session.room.wait(request.eventId, request.signal);
      if (answer?.type !== "user.custom_tool_result") {
        return { content: [{ type: "text", text: "Nobody answered this call." }], isError: true };
      }
      return { content: answer.content ?? [], isError: answer.is_error ?? false };
    },
  };
}

/** What a grant is for: exactly this tool with exactly this input. */
const grantKey = (call: { name: string; mcpServer?: string; input: Record<string, unknown> }): string =>
  JSON.stringify([call.mcpServer ?? null, call.name, call.input]);

export const grantOf = ({ use }: OpenCall): string =>
  grantKey({ ...use, ...(use.type === "agent.mcp_tool_use" && { mcpServer: use.mcp_server_name }) });
