import { z } from "zod";
import type { ConversationSetup, SubagentDefinition } from "../session/conversation.ts";
import type { TranslatorInput } from "../session/translate/translator-input.ts";
import { MAX_OUTPUT_TOKENS, type ModelAnswer } from "./ask-model.ts";
import { newTaskId, type TaskHandle } from "./emulated-tasks.ts";
import { offeredTools } from "./offered-tools.ts";
import { callsOf, type ToolAnswer, type ToolRequest } from "./tool-runner.ts";
import { sdkMessage } from "./sdk-message.ts";
import { ModelFailure, type ModelMessage, type ModelRequest } from "./stream-model.ts";

interface SubagentHost {
  setup: ConversationSetup;
  /** The conversation's model, for a subagent without its own. */
  model: string;
  signal: AbortSignal;
  ask: (request: ModelRequest) => Promise<ModelAnswer>;
  runTool: (call: ToolRequest) => Promise<ToolAnswer>;
  translate: (input: TranslatorInput) => void;
  /** Absent in the foreground. */
  background?: TaskHandle;
}

const agentInput = z.object({
  description: z.string().default("subagent"),
  prompt: z.string(),
  subagent_type: z.string().default("general-purpose"),
});

/** Runs the subagent of a call, with the messages that Claude Code sends for it. Returns its report. */
export async function runSubagent({ id, input }: ToolRequest, host: SubagentHost): Promise<string> {
  const { setup, signal, translate } = host;
  const { description, prompt, subagent_type: type } = agentInput.parse(input);
  const definition = setup.subagents.find(({ name }) => name === type);
  if (!definition) {
    const names = setup.subagents.map(({ name }) => name).join(", ");
    throw new Error(`Agent type '${type}' not found. Available agents: ${names}`);
  }
  const { background } = host;
  const task = { task_id: background?.id ?? newTaskId(), tool_use_id: id };
  const tell = (message: { type: string } & Record<string, unknown>): void =>
    translate({ type: "message", message: sdkMessage(setup.id, message) });
  const tellOwn = (message: { type: string } & Record<string, unknown>): void =>
    tell({ ...message, parent_tool_use_id: id, agent_id: task.task_id, subagent_type: type });
  const end = (status: string, summary: string): void => {
    const tellEnd = (): void => tell({ type: "system", subtype: "task_notification", ...task, status, summary });
    if (background) background.onEnd(tellEnd);
    else tellEnd();
  };

  tell({
    type: "system",
    subtype: "task_started",
    ...task,
    task_type: "local_agent",
    description,
    subagent_type: type,
    is_backgrounded: background !== undefined,
    prompt,
  });
  const messages: ModelMessage[] = [{ role: "user", content: [{ type: "text", text: prompt }] }];
  try {
    for (;;) {
      const answer = await host.ask(requestOf(definition, host, messages));
      const { content, stopReason, usage, ...about } = answer;
      for (const block of content) {
        tellOwn({
          type: "assistant",
          message: { ...about, role: "assistant", usage, stop_reason: null, content: [block] },
        });
      }
      const message = { ...about, role: "assistant", usage, stop_reason: stopReason ?? "end_turn", content: [] };
      translate({ type: "transcript", line: { type: "assistant", message } });
      const calls = callsOf(content);
      if (calls.length === 0) {
        const report = content.flatMap(({ text }) => (typeof text === "string" ? [text] : [])).join("\n\n");
        end("completed", report);
        return report;
      }
      const results = await Promise.all(
        calls.map(async (call) => {
          const result = await host.runTool(call);
          const { content: told, isError } = result;
          const block = {
            type: "tool_result",
            tool_use_id: call.id,
            content: told,
            ...(isError && { is_error: true }),
          };
          // The turn ends, and closes the call.
          if (!signal.aborted)
            tellOwn({ type: "user", message: { role: "user", content: [block] }, tool_use_result: result.details });
          return block;
        }),
      );
      signal.throwIfAborted();
      messages.push({ role: "assistant", content }, { role: "user", content: results });
    }
  } catch (error) {
    if (error instanceof ModelFailure && !signal.aborted) {
      const reason = `Agent terminated early due to an API error: ${error.message}`;
      end("failed", reason);
      throw new Error(reason, { cause: error });
    }
    throw error;
  }
}

function requestOf(
  { system, model, tools }: SubagentDefinition,
  host: SubagentHost,
  messages: readonly ModelMessage[],
): ModelRequest {
  const isOffered = (name: string): boolean =>
    tools === undefined ? name !== "Agent" : tools.some((each) => name === each || name.startsWith(`${each}__`));
  return {
    model: model ?? host.model,
    max_tokens: MAX_OUTPUT_TOKENS,
    system,
    messages: [...messages],
    tools: offeredTools(host.setup).filter(({ name }) => isOffered(name)),
  };
}
