import { z } from "zod";
import type { ConversationSetup } from "../session/conversation.ts";
import type { Gate } from "../session/gate.ts";
import { nameTool, type ToolNames } from "../session/translate/calls.ts";
import type { ModelBlock } from "./stream-model.ts";

export interface ToolRequest {
  /** The model's id of the call. */
  id: string;
  /** Claude Code's name. */
  name: string;
  input: Record<string, unknown>;
}

export interface ToolAnswer {
  content: readonly ModelBlock[];
  isError: boolean;
  /** Structured output of Claude Code beside the text, for example the patch of an edit. */
  details?: unknown;
  /** Text that hooks add for the model beside the result. */
  notes?: readonly string[];
}

/** Runs the subagent of an `Agent` call. Returns its report. */
type RunSubagent = (call: ToolRequest, signal: AbortSignal) => Promise<string>;

type StartTask = (call: ToolRequest, kind: "subagent" | "shell") => void;

/** Runs Claude Code's built-in tools, or acts as if. `folder` is the session's. */
export type RunBuiltinTool = (
  call: ToolRequest & {
    folder: string;
    signal: AbortSignal;
    runSubagent: () => Promise<string>;
    /** Starts a task that the call does not wait for. */
    startTask: (kind: "subagent" | "shell") => void;
  },
) => Promise<{ text: string; isError?: boolean; details?: unknown } | ToolAnswer>;

/** The text of a denied call's result. Claude Code has its own text for tools that it does not have. */
export type DescribeDenial = (call: ToolRequest, reason: string) => string;

const decision = z.object({
  hookSpecificOutput: z.object({
    permissionDecision: z.enum(["allow", "deny"]),
    permissionDecisionReason: z.string().optional(),
    updatedInput: z.record(z.string(), z.unknown()).optional(),
    additionalContext: z.string().optional(),
  }),
});
const context = z.object({ hookSpecificOutput: z.object({ additionalContext: z.string() }) });

/** Runs the tools of a conversation as Claude Code would: each call passes the gate first. */
export class ToolRunner {
  readonly #setup: ConversationSetup;
  readonly #gate: Gate;
  readonly #names: ToolNames;
  readonly #runBuiltin: RunBuiltinTool;
  readonly #describeDenial: DescribeDenial;
  readonly #runSubagent: RunSubagent;
  readonly #startTask: StartTask;

  constructor(
    setup: ConversationSetup,
    parts: {
      gate: Gate;
      names: ToolNames;
      runBuiltin: RunBuiltinTool;
      runSubagent: RunSubagent;
      startTask: StartTask;
      describeDenial?: DescribeDenial | undefined;
    },
  ) {
    this.#setup = setup;
    this.#gate = parts.gate;
    this.#names = parts.names;
    this.#runBuiltin = parts.runBuiltin;
    this.#runSubagent = parts.runSubagent;
    this.#startTask = parts.startTask;
    this.#describeDenial = parts.describeDenial ?? ((_call, reason) => reason);
  }

  async run(call: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const hook = this.#hook(call);
    const answer = await this.#gate.beforeTool({ ...hook, hook_event_name: "PreToolUse" }, call.id, { signal });
    const { permissionDecision, permissionDecisionReason, updatedInput, additionalContext } =
      decision.parse(answer).hookSpecificOutput;
    if (permissionDecision === "deny") {
      return failed(this.#describeDenial(call, permissionDecisionReason ?? "The call was denied."));
    }
    const result = await this.#runAllowed({ ...call, input: updatedInput ?? call.input }, signal);
    const told = [additionalContext, await this.#after(call, result, signal)];
    return { ...result, notes: told.filter((text) => text !== undefined) };
  }

  async #runAllowed(call: ToolRequest, signal: AbortSignal): Promise<ToolAnswer> {
    const tool = nameTool(call.name, this.#names);
    try {
      switch (tool.kind) {
        case "custom":
          return await this.#gate.callCustomTool(tool.name, call.input, signal, call.id);
        case "worker":
          return await this.#gate.callWorker(tool.name, call.input, signal, call.id);
        case "mcp":
          return await this.#runMcp(tool.mcpServer ?? "", tool.name, call.input, signal);
        case "question":
          return {
            content: [textBlock(`The user answered: ${JSON.stringify(call.input["answers"])}`)],
            isError: false,
          };
        case "builtin": {
          const runSubagent = () => this.#runSubagent(call, signal);
          const startTask = (kind: "subagent" | "shell") => this.#startTask(call, kind);
          const { folder } = this.#setup;
          const running = this.#runBuiltin({ ...call, folder, signal, runSubagent, startTask });
          const result = await Promise.race([running, untilAborted(signal)]);
          if ("content" in result) return result;
          const { text, isError = false, details } = result;
          return { content: [textBlock(text)], isError, details };
        }
      }
    } catch (error) {
      return failed(error instanceof Error ? error.message : String(error));
    }
  }

  async #runMcp(
    server: string,
    tool: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
  ): Promise<ToolAnswer> {
    const connected = this.#setup.connectedServers?.find(({ name }) => name === server);
    if (connected) {
      const { content, isError = false } = await connected.call(tool, input, signal);
      return { content, isError };
    }
    const offered = this.#setup.hostServers?.find(({ name }) => name === server)?.tools;
    const own = offered?.find(({ name }) => name === tool);
    if (!own) return failed(`The MCP server ${server} has no tool ${tool}.`);
    const { text, isError } = await own.run(input, signal);
    return { content: [textBlock(text)], isError };
  }

  /** Text that the host's hooks add to the result. */
  async #after(call: ToolRequest, { content, isError }: ToolAnswer, signal: AbortSignal): Promise<string | undefined> {
    const said = content.map(({ text }) => (typeof text === "string" ? text : "")).join("\n");
    const hook = this.#hook(call);
    const answer = isError
      ? this.#gate.asksAfterFailure &&
        (await this.#gate.afterFailure({ ...hook, hook_event_name: "PostToolUseFailure", error: said }, call.id, {
          signal,
        }))
      : this.#gate.asksAfter &&
        (await this.#gate.afterTool({ ...hook, hook_event_name: "PostToolUse", tool_response: said }, call.id, {
          signal,
        }));
    return context.safeParse(answer).data?.hookSpecificOutput.additionalContext;
  }

  #hook({ id, name, input }: ToolRequest) {
    const { id: session_id, folder: cwd } = this.#setup;
    return { session_id, cwd, transcript_path: "", tool_name: name, tool_input: input, tool_use_id: id };
  }
}

const toolUse = z.object({
  type: z.literal("tool_use"),
  id: z.string(),
  name: z.string(),
  input: z.record(z.string(), z.unknown()),
});

/** The calls of an answer. */
export const callsOf = (content: readonly ModelBlock[]): ToolRequest[] =>
  content.flatMap((block) => toolUse.safeParse(block).data ?? []);

/** An interrupt does not wait for a tool that ignores the signal. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const stop = (): void => reject(new Error("The turn was interrupted."));
    if (signal.aborted) return stop();
    signal.addEventListener("abort", stop, { once: true });
  });

const textBlock = (text: string) => ({ type: "text" as const, text });

const failed = (text: string): ToolAnswer => ({ content: [textBlock(text)], isError: true });
