import { isDeepStrictEqual } from "node:util";
import type {
  CanUseTool,
  HookCallback,
  HookJSONOutput,
  PostToolUseFailureHookInput,
  PostToolUseHookInput,
} from "@anthropic-ai/claude-agent-sdk";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";
import {
  isWorkerTool,
  type EventId,
  type Permission,
  type PermissionMode,
  QUESTION_TOOL,
  type ThreadId,
  WORKER_TOOLS,
} from "@tandem/protocol";
import { z } from "zod";
import { asMcpContent } from "./as-mcp-content.ts";
import type {
  Confirmation,
  ConversationHost,
  ConversationOutput,
  ConversationSetup,
  Decision,
  ToolCallRequest,
} from "./conversation.ts";
import { hookAnswer } from "./hook-answer.ts";
import { PassedCalls } from "./passed-calls.ts";
import { OUTPUT_TOOL } from "./process-options.ts";
import { type Judge, type NamedTool, nameTool, type ToolNames } from "./translate/calls.ts";

/** Time for a call's event to arrive after its hook; a call without an event is denied. */
const ANNOUNCEMENT_MS = 10_000;

/**
 * Longer than storing a transcript takes while the database responds. An unresponsive database must not stop the agent.
 */
const STORED_MS = 2_000;

/** Idempotent tools. Every other call is stored before it runs, so that a crash cannot repeat it. */
const IDEMPOTENT_TOOLS = new Set(
  `Read Glob Grep BashOutput ${OUTPUT_TOOL} TodoWrite TaskCreate TaskUpdate TaskList TaskGet TaskOutput`.split(" "),
);

/** Claude Code adds to their input after the hooks. */
const COMPLETED_LATER = new Set(["ExitPlanMode", "AskUserQuestion"]);

interface Announced {
  eventId: EventId;
  thread: ThreadId | null;
  permission: Permission;
  /** The reason, in one sentence. */
  why: string | undefined;
  name: string;
  mcpServer: string | undefined;
  input: Record<string, unknown>;
  /** Fires when the call no longer needs an answer. */
  ended: AbortController;
}

const ALLOWED: Confirmation = { allow: true };
type Reply = { content: CallToolResult["content"]; isError: boolean };

type JudgedWorkerCall = Parameters<Judge>[0];

const toolInput = z.record(z.string(), z.unknown());

/**
 * Guards every tool. A call passes only if its event is emitted, the policy or a person allows it, and its input is
 * unchanged since that decision. Everything else is denied, including errors and unannounced calls (fail closed).
 */
export class Gate {
  readonly #setup: ConversationSetup;
  readonly #host: ConversationHost;
  readonly #names: ToolNames;
  readonly #announced = new Map<string, Announced>();
  readonly #awaited = new Map<string, () => void>();
  /** The model's ids of finished calls of the primary thread, in the current turn. */
  readonly finished = new Set<string>();
  readonly passed = new PassedCalls();
  /** The model's ids of calls that wait for a worker's result. */
  readonly handedOver = new Set<string>();
  readonly #stored: (toolUseId: string) => Promise<void>;

  /** `stored` resolves when the transcript store has a call. */
  constructor(
    setup: ConversationSetup,
    host: ConversationHost,
    names: ToolNames,
    stored: (toolUseId: string) => Promise<void>,
  ) {
    this.#setup = setup;
    this.#host = host;
    this.#names = names;
    this.#stored = stored;
    if (setup.continuation?.run) this.passed.add(setup.continuation.run.toolUseId);
  }

  /** The model's ids of open calls of the primary thread. */
  get open(): string[] {
    return [...this.#announced].flatMap(([id, { thread }]) => (thread === null ? [id] : []));
  }

  /** The policy's decision. Tools that are not offered are always denied. */
  readonly judge: Judge = ({ kind, name, mcpServer, input, thread, reaches }) => {
    // A workflow run can ask its agents for objects.
    const hasOutput = this.#setup.outputSchema ?? (thread !== null && this.#setup.tools.includes("Workflow"));
    if (name === OUTPUT_TOOL && hasOutput) return { permission: "allow" };
    if (kind === "worker") return this.#judgeWorkerCall({ name, input, thread });
    const offered =
      kind === "builtin" || kind === "question"
        ? this.#setup.tools.includes(name === "Task" ? "Agent" : name)
        : this.#names.mcpServers.includes(mcpServer ?? "");
    if (!offered) return { permission: "deny" };
    try {
      return this.#host.decide({ name, ...(mcpServer !== undefined && { mcpServer }), input, thread, reaches });
    } catch {
      return { permission: "deny" };
    }
  };

  /** Rules and policies name Claude Code's tools, so that one rule covers both. */
  #judgeWorkerCall({ name, ...call }: Pick<JudgedWorkerCall, "name" | "input" | "thread">): Decision {
    const isOffered = this.#setup.workerTools?.some((tool) => tool.name === name);
    if (!isWorkerTool(name) || !isOffered) return { permission: "deny" };
    try {
      return this.#host.decide({ ...call, name: WORKER_TOOLS[name], isRemote: true });
    } catch {
      return { permission: "deny" };
    }
  }

  /** Receives every output after the host has. */
  observe(output: ConversationOutput): void {
    if (output.type === "turn_ended") this.finished.clear();
    if (output.type === "turn_ended" && output.outcome.stop !== "end_turn")
      return this.endAll((call) => call.thread === null);
    if (output.type !== "event") return;
    const { event } = output;
    switch (event.type) {
      case "agent.tool_use":
      case "agent.mcp_tool_use":
      case "agent.custom_tool_use": {
        const id = event.tandem.tool_use_id;
        this.#announced.set(id, {
          eventId: output.id,
          thread: output.thread,
          permission:
            event.type === "agent.custom_tool_use" ? answered(event.name) : (event.evaluated_permission ?? "deny"),
          why: event.tandem.verdict?.why,
          name: event.name,
          mcpServer: event.type === "agent.mcp_tool_use" ? event.mcp_server_name : undefined,
          input: event.input,
          ended: new AbortController(),
        });
        this.#awaited.get(id)?.();
        return;
      }
      case "agent.tool_result":
      case "agent.mcp_tool_result": {
        const eventId = event.type === "agent.tool_result" ? event.tool_use_id : event.mcp_tool_use_id;
        for (const [id, call] of this.#announced) {
          if (call.eventId === eventId && call.thread === null) this.finished.add(id);
        }
        return this.endAll((call) => call.eventId === eventId);
      }
      default:
    }
  }

  endAll(which: (call: Announced) => boolean = () => true): void {
    for (const [id, call] of this.#announced) {
      if (!which(call)) continue;
      call.ended.abort();
      this.#announced.delete(id);
      this.passed.delete(id);
    }
  }

  /** For `PreToolUse`, which Claude Code calls before every offered tool, also in subagents. */
  readonly beforeTool: HookCallback = async (input, _toolUseId, { signal }) => {
    if (input.hook_event_name !== "PreToolUse") return {};
    const run = this.#setup.continuation?.run;
    if (run?.toolUseId === input.tool_use_id) {
      return hookAnswer({ allow: true, input: run.changedTo ?? toolInput.parse(input.tool_input) });
    }
    const verdict = await this.#verdict(input.tool_use_id, input.tool_name, input.tool_input, signal).catch(
      (error: unknown): Confirmation => ({ allow: false, message: `The call could not be judged: ${String(error)}` }),
    );
    if (verdict.allow) {
      const call = { tool: input.tool_name, input: verdict.input ?? input.tool_input };
      this.passed.add(input.tool_use_id, { ...call, mode: verdict.mode });
    }
    return hookAnswer(this.#pinInput(verdict, input.tool_name, input.tool_input));
  };

  /**
   * Returning the input makes it final: a hook of the folder, or one for an earlier call, cannot change it, so the judged
   * input is the one that runs.
   */
  #pinInput(verdict: Confirmation, tool: string, input: unknown): Confirmation {
    const hasOtherHooks = this.#setup.trusted !== undefined || this.#setup.continuation?.run !== undefined;
    if (!verdict.allow || verdict.input || !hasOtherHooks || COMPLETED_LATER.has(tool)) return verdict;
    return { ...verdict, input: toolInput.parse(input) };
  }

  /** For permission requests outside of the hook: only calls that passed the hook may run. */
  readonly canUseTool: CanUseTool = async (name, _input, { toolUseID }) => {
    if (!this.passed.has(toolUseID)) {
      return { behavior: "deny", message: `${name} was not allowed by this session.` };
    }
    const mode = this.passed.modeAfter(toolUseID);
    return {
      behavior: "allow",
      ...(mode && { updatedPermissions: [{ type: "setMode", mode: claudeMode(mode), destination: "session" }] }),
    };
  };

  /** A call of a self-hosted environment's tool. It reaches a worker only after the hook has admitted it. */
  async callWorker(
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
    toolUseId: string | undefined,
  ): Promise<Reply> {
    if (toolUseId === undefined || !this.passed.has(toolUseId)) return failed("This call was not allowed.");
    this.handedOver.add(toolUseId);
    return this.callCustomTool(name, input, signal, toolUseId);
  }

  async callCustomTool(
    name: string,
    input: Record<string, unknown>,
    signal: AbortSignal,
    toolUseId: string | undefined,
  ): Promise<Reply> {
    const call = toolUseId === undefined ? undefined : await this.#announcement(toolUseId, signal);
    if (!call || toolUseId === undefined) return failed("The call came from nowhere.");
    try {
      const request = this.#request(toolUseId, call, { name, input }, signal);
      const { content, isError } = await this.#host.callCustomTool(request);
      return { content: asMcpContent(content), isError };
    } catch (error) {
      return failed(`The tool failed: ${error instanceof Error ? error.message : String(error)}`);
    } finally {
      this.#announced.delete(toolUseId);
    }
  }

  async #verdict(toolUseId: string, fullName: string, rawInput: unknown, signal: AbortSignal): Promise<Confirmation> {
    const tool = nameTool(fullName, this.#names);
    const input = toolInput.parse(rawInput);
    const call = await this.#announcement(toolUseId, signal);
    if (!call) return { allow: false, message: "The call was not announced in time." };
    // A custom tool is approved by the client that runs it.
    if (tool.kind === "custom")
      return this.#hooked(tool, call, this.#request(toolUseId, call, { ...tool, input }, signal));
    const permission = isDeepStrictEqual(input, call.input) ? call.permission : this.#rejudge(tool, input, call);
    // With the reason, the model can choose another way.
    const why = call.permission === "deny" && call.why !== undefined ? ` ${call.why}` : "";
    if (permission === "deny") return { allow: false, message: `This session does not allow the call.${why}` };
    const request = this.#request(toolUseId, call, { ...tool, input }, signal);
    const confirmed = permission === "ask" ? await this.#host.confirm(request) : ALLOWED;
    if (!confirmed.allow) return confirmed;
    if (confirmed.input && tool.kind !== "question" && this.#isDenied(tool, confirmed.input, call)) {
      return { allow: false, message: "This session does not allow the call with the input that it was changed to." };
    }
    const verdict = await this.#hooked(tool, call, request, confirmed);
    if (!verdict.allow || tool.kind === "worker") return verdict;
    if (!IDEMPOTENT_TOOLS.has(fullName)) {
      await Promise.race([this.#host.durable?.(), aborted(request.signal)]);
      // Calls of subagents are not resumed after a crash; their caller reads that the effect is unknown.
      if (call.thread === null) await this.untilStored(toolUseId, request.signal);
      if (request.signal.aborted) return { allow: false, message: "The turn ended before the call was made." };
    }
    if (permission === "ask") await this.#host.starting?.(request);
    return verdict;
  }

  /** The host's hooks come last. Their changed input must be allowed by policy, because no person is asked again. */
  async #hooked(
    tool: NamedTool,
    { thread }: Announced,
    request: ToolCallRequest,
    verdict: Extract<Confirmation, { allow: true }> = { allow: true },
  ): Promise<Confirmation> {
    const said = await this.#host.beforeTool?.({ ...request, input: verdict.input ?? request.input });
    if (!said) return verdict;
    if (!said.allow) return said;
    const { input, context } = said;
    if (input && tool.kind !== "custom" && this.judge({ ...tool, input, thread }).permission !== "allow") {
      const message = "A hook changed the call into one that this session does not allow without asking.";
      return { allow: false, message };
    }
    const contexts = [verdict.context, context].filter((words) => words !== undefined).join("\n\n");
    return { ...verdict, ...(input && { input }), ...(contexts && { context: contexts }) };
  }

  /** Whether the host has a hook for results. */
  get asksAfter(): boolean {
    return this.#host.afterTool !== undefined;
  }

  /** For `PostToolUse`: adds the host hooks' context to the result for the model. */
  readonly afterTool: HookCallback = async (input, _toolUseId, { signal }) => {
    if (input.hook_event_name !== "PostToolUse") return {};
    return this.#withContext(input, signal, (call) => this.#host.afterTool?.({ ...call, result: input.tool_response }));
  };

  /** Whether the host has a hook for failures. */
  get asksAfterFailure(): boolean {
    return this.#host.afterFailure !== undefined;
  }

  /** For `PostToolUseFailure`: adds the host's explanation to the error for the model. */
  readonly afterFailure: HookCallback = async (input, _toolUseId, { signal }) => {
    if (input.hook_event_name !== "PostToolUseFailure") return {};
    return this.#withContext(input, signal, (call) => this.#host.afterFailure?.({ ...call, error: input.error }));
  };

  async #withContext(
    input: PostToolUseHookInput | PostToolUseFailureHookInput,
    signal: AbortSignal,
    ask: (call: ToolCallRequest) => Promise<{ context?: string }> | undefined,
  ): Promise<HookJSONOutput> {
    const call = this.#announced.get(input.tool_use_id);
    if (!call) return {};
    const tool = nameTool(input.tool_name, this.#names);
    const said = await ask(this.#request(input.tool_use_id, call, { ...tool, input: call.input }, signal));
    if (said?.context === undefined) return {};
    return { hookSpecificOutput: { hookEventName: input.hook_event_name, additionalContext: said.context } };
  }

  /** Resolves when the transcript store has a call, or after a timeout. */
  async untilStored(toolUseId: string, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, STORED_MS);
    signal?.addEventListener("abort", () => resolve(), { once: true });
    await Promise.race([this.#stored(toolUseId), promise]);
    clearTimeout(timer);
  }

  /** Claude Code may complete an input. The decision holds only if the new input gets the same one. */
  #rejudge(tool: NamedTool, input: Record<string, unknown>, call: Announced): Permission {
    const { permission } = this.judge({ ...tool, input, thread: call.thread });
    return permission === call.permission ? permission : "deny";
  }

  /** An edited input is judged again; it must not become a denied call. */
  #isDenied(tool: NamedTool, input: Record<string, unknown>, { thread }: Announced): boolean {
    return this.judge({ ...tool, input, thread }).permission === "deny";
  }

  #request(
    toolUseId: string,
    call: Announced,
    { name, mcpServer, input }: { name: string; mcpServer?: string; input: Record<string, unknown> },
    signal: AbortSignal,
  ): ToolCallRequest {
    return {
      eventId: call.eventId,
      toolUseId,
      name,
      ...(mcpServer !== undefined && { mcpServer }),
      input,
      thread: call.thread,
      signal: AbortSignal.any([call.ended.signal, signal]),
    };
  }

  /** The hook can run before the message with the call has been read. */
  async #announcement(toolUseId: string, signal: AbortSignal): Promise<Announced | undefined> {
    if (!this.#announced.has(toolUseId)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, ANNOUNCEMENT_MS);
      signal.addEventListener("abort", () => resolve(), { once: true });
      this.#awaited.set(toolUseId, resolve);
      await promise;
      clearTimeout(timer);
      this.#awaited.delete(toolUseId);
    }
    return this.#announced.get(toolUseId);
  }
}

/** Questions are always answered by a person; custom tools are approved by the client that runs them. */
const answered = (name: string): Permission => (name === QUESTION_TOOL ? "ask" : "allow");

/**
 * The gate judges everything before Claude Code does. Real bypass mode is not needed, and Claude Code refuses it as
 * root.
 */
const claudeMode = (mode: PermissionMode): PermissionMode => (mode === "bypassPermissions" ? "default" : mode);

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });

const failed = (text: string): Reply => ({ content: [{ type: "text", text }], isError: true });
