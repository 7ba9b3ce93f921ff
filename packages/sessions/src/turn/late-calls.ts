import type { AllowedCall, Conversation, LateResult } from "@tandem/claude-code";
import type { ApprovalRequests, LateAnswers, LateCall } from "../approvals/approval-requests.ts";
import { replacedId } from "../approvals/legacy-grants.ts";
import { unrunResult } from "../approvals/late-result.ts";
import { toolState } from "../approvals/tool-state.ts";
import { closing, resultOf } from "../log/open-turn.ts";
import { callMcpTool } from "../process/call-mcp-tool.ts";
import type { ConversationHolder } from "../process/conversation-holder.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";

interface LateCallParts extends Pick<TurnDependencies, "store" | "settings" | "writer" | "definitions"> {
  holder: ConversationHolder;
  requests: ApprovalRequests;
}

/**
 * Runs calls that a person allowed after their process had ended. Claude Code runs one call of an earlier process for each
 * start; Tandem calls the tools of MCP servers itself. The start of each call is durable before it can take effect.
 */
export class LateCalls {
  readonly #parts: LateCallParts;

  constructor(parts: LateCallParts) {
    this.#parts = parts;
  }

  /** Runs the calls in order. Resolves with the process that continues the turn. `check` throws if the turn was stopped. */
  async run({ results, calls }: LateAnswers, check: () => void): Promise<Conversation> {
    const { holder, requests } = this.#parts;
    const ofServers = calls.filter(({ call }) => call.use.type === "agent.mcp_tool_use");
    const known = [...results];
    for (const call of ofServers) {
      check();
      known.push(await this.#callServer(call));
    }
    const own = calls.filter(({ call }) => call.use.type === "agent.tool_use");
    for (const [index, late] of own.entries()) {
      check();
      // A call counts as started only when its process can start.
      await holder.reserve("");
      await requests.started(late.call);
      const run = allowedCall(late, own.slice(index + 1));
      const conversation = await holder.open({ results: index === 0 ? known : [], run });
      if (run.laterCalls.length === 0) return conversation;
      await conversation.ranCall;
      await holder.close();
    }
    return holder.open({ results: known });
  }

  /** The transcript has lost the calls, so none of them can run. Returns the results for the model. */
  giveUp({ results, calls }: LateAnswers): LateResult[] {
    const { writer } = this.#parts;
    const reason = "The transcript does not contain the call.";
    for (const { call } of calls) {
      void writer.place([closing(call, "crash", reason), toolState(call.use.id, "interrupted", reason)]);
    }
    return [...results, ...calls.map(({ call }) => unrunResult(call))];
  }

  async #callServer({ call, input }: LateCall): Promise<LateResult> {
    const { requests, writer } = this.#parts;
    await requests.started(call);
    const { content, isError } = await callMcpTool(this.#parts, call, input);
    const event = resultOf(call, { content, is_error: isError });
    await writer.place([event]);
    requests.observe(event.body);
    return { toolUseId: call.use.tandem.tool_use_id, content, isError, inWords: [] };
  }
}

function allowedCall({ call: { use }, input }: LateCall, later: readonly LateCall[]): AllowedCall {
  const copyOf = replacedId(use);
  return {
    eventId: use.id,
    toolUseId: use.tandem.tool_use_id,
    name: use.name,
    ...(input && { changedTo: input }),
    ...(copyOf !== undefined && { copyOf }),
    laterCalls: later.map(({ call }) => call.use.tandem.tool_use_id),
  };
}
