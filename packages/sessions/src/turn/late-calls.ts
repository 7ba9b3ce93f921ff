import type { AllowedCall, Conversation, LateResult } from "@tandem/claude-code";
import type { SessionEventBody } from "@tandem/protocol";
import type { ApprovalRequests, LateAnswers, LateCall } from "../approvals/approval-requests.ts";
import { CallRefused } from "../approvals/call-refused.ts";
import { replacedId } from "../approvals/legacy-grants.ts";
import { unrunResult } from "../approvals/late-result.ts";
import { toolState } from "../approvals/tool-state.ts";
import type { TurnHooks } from "../hooks/turn-hook.ts";
import { closing, resultOf } from "../log/open-turn.ts";
import { callMcpTool } from "../process/call-mcp-tool.ts";
import type { ConversationHolder } from "../conversation/conversation-holder.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";

interface LateCallParts extends Pick<TurnDependencies, "store" | "settings" | "writer" | "definitions" | "rules"> {
  holder: ConversationHolder;
  requests: ApprovalRequests;
  hooks: Pick<TurnHooks, "prepared">;
}

/** An environment variable carries the notes to Claude Code. */
const NOTE_LENGTH = 10_000;

/**
 * Runs calls that a person allowed after their process had ended. Claude Code runs one call of an earlier process for each
 * start; Tandem calls the tools of MCP servers itself. The start of each call is durable before it can take effect.
 */
export class LateCalls {
  readonly #parts: LateCallParts;

  constructor(parts: LateCallParts) {
    this.#parts = parts;
  }

  /**
   * Runs the calls in order. Resolves with the process that continues the turn. `check` throws if the turn was stopped. If it
   * rejects, `late.results` has the results that the transcript does not contain yet.
   */
  async run(late: LateAnswers, check: () => void): Promise<Conversation> {
    const { holder } = this.#parts;
    const { results } = late;
    const calls = late.calls.toSorted((a, b) => orderOf(a) - orderOf(b));
    const notes: string[] = [];
    for (const [index, call] of calls.entries()) {
      check();
      await this.#tell(index, calls.length);
      const later = calls.slice(index + 1);
      try {
        if (!isOwn(call)) results.push(await this.#callServer(call));
        else {
          if (call.input) notes.push(changeNote(call));
          const conversation = await holder.open({
            results: [...results],
            run: { ...allowedCall(call, later), notes },
          });
          results.length = 0;
          if (later.length === 0) return conversation;
          await conversation.ranCall;
          if (isBackground(call)) notes.push(stoppedNote(call));
          await holder.close();
        }
      } catch (error) {
        if (!(error instanceof CallRefused)) throw error;
        results.push(await this.#parts.requests.refuse(call.call, error.reason));
      }
    }
    return holder.open({ results: [...results] });
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

  /** Each call needs a start of Claude Code, which takes seconds. */
  async #tell(index: number, count: number): Promise<void> {
    if (count < 2) return;
    const text = `Running allowed call ${index + 1} of ${count}.`;
    const notice: SessionEventBody = { type: "tandem.notice", level: "info", text };
    await this.#parts.writer.write([notice]);
  }

  async #callServer({ call, input }: LateCall): Promise<LateResult> {
    const { requests, writer, hooks } = this.#parts;
    // The tool may change files.
    await hooks.prepared();
    const onRun = (): Promise<void> => requests.started(call.use.id);
    const { content, isError } = await callMcpTool(this.#parts, call, { onRun, ...(input && { changedTo: input }) });
    const event = resultOf(call, { content, is_error: isError });
    await writer.place([event]);
    requests.observe(event.body);
    const told = input ? [...content, { type: "text" as const, text: changeNote({ call, input }) }] : content;
    return { toolUseId: call.use.tandem.tool_use_id, content: told, isError, inWords: [] };
  }
}

/** Whether Claude Code runs the call itself. */
const isOwn = ({ call }: LateCall): boolean => call.use.type === "agent.tool_use";

const isBackground = ({ call, input }: LateCall): boolean =>
  isOwn({ call }) && (input ?? call.use.input)["run_in_background"] === true;

/**
 * Claude Code asks the model once its last call has run, so the tools of MCP servers come first. A background command ends
 * with its process, so it comes last, in the process that stays.
 */
const orderOf = (call: LateCall): number => (isBackground(call) ? 2 : isOwn(call) ? 1 : 0);

const stoppedNote = ({ call }: LateCall): string =>
  `The background command of ${call.use.name} was stopped, because another background command had to run: ` +
  `${JSON.stringify(call.use.input).slice(0, NOTE_LENGTH)}.`;

const changeNote = ({ call, input }: LateCall): string =>
  `The user changed the input of the call of ${call.use.name} before allowing it. It ran with ` +
  `${JSON.stringify(input).slice(0, NOTE_LENGTH)}.`;

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
