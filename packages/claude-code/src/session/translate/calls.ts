import { QUESTION_TOOL, readVerdictLine, type EventId, type Interruption, type ThreadId } from "@tandem/protocol";
import { z } from "zod";
import type { Decision } from "../conversation.ts";
import type { Emit } from "./emit.ts";
import { filePatch } from "./read-file-patch.ts";
import { resultContent } from "./result-content.ts";

export interface ToolNames {
  /** The server that offers our custom tools. */
  customServer: string;
  /** The server that offers the tools of a self-hosted environment. */
  workerServer?: string;
  mcpServers: readonly string[];
}

export interface NamedTool {
  /** A question is a built-in tool that a person answers, like a client answers a custom tool. */
  kind: "builtin" | "question" | "mcp" | "custom" | "worker";
  name: string;
  mcpServer?: string;
}

/** Claude Code's tool for questions. */
const ASK_TOOL = "AskUserQuestion";

/** Resolves the server of a tool. Server names may contain underscores, so the longest known name is matched first. */
export function nameTool(full: string, { customServer, workerServer, mcpServers }: ToolNames): NamedTool {
  const server = [customServer, ...(workerServer === undefined ? [] : [workerServer]), ...mcpServers]
    .filter((name) => full.startsWith(`mcp__${name}__`))
    .sort((a, b) => b.length - a.length)[0];
  if (server !== undefined) {
    const name = full.slice(`mcp__${server}__`.length);
    if (server === workerServer) return { kind: "worker", name };
    return server === customServer ? { kind: "custom", name } : { kind: "mcp", name, mcpServer: server };
  }
  if (full === ASK_TOOL) return { kind: "question", name: full };
  const [, mcpServer, name] = /^mcp__(.+?)__(.+)$/.exec(full) ?? [];
  return mcpServer && name ? { kind: "mcp", name, mcpServer } : { kind: "builtin", name: full };
}

/** Decides whether a call may run. Not called for custom tools. */
export type Judge = (
  call: NamedTool & {
    input: Record<string, unknown>;
    thread: ThreadId | null;
    /** The subagent's thread that a message goes to. */
    reaches?: ThreadId | undefined;
  },
) => Decision;

export interface Call extends NamedTool {
  toolUseId: string;
  eventId: EventId;
  thread: ThreadId | null;
  input: Record<string, unknown>;
}

const NOT_KNOWN = "There was no result when the turn ended. What the call did is not known.";
/** Claude Code's text in place of a result after an interrupt. It reads like a refusal by the user. */
const STOPPED_BY_USER = /^The user doesn't want to (proceed|take this action)|^\[Request interrupted/;

/** The context's server is ours, so its answers can be trusted to state the verdict before any data. */
const isSqlQuery = ({ mcpServer, name }: NamedTool): boolean => mcpServer === "context" && name === "sql_query";

const inputObject = z.record(z.string(), z.unknown());

/** Matches tool calls and results by the model's ids. */
export class Calls {
  readonly #emit: Emit;
  readonly #names: ToolNames;
  readonly #judge: Judge;
  readonly #threadOfTask: (task: string) => ThreadId | undefined;
  /** Whether a call was handed to a worker, whose own event is the result. */
  readonly #isHandedOver: (toolUseId: string) => boolean;
  readonly #open = new Map<string, Call>();
  /** Thread of each call, kept after its result. */
  readonly #threads = new Map<string, ThreadId | null>();

  constructor(
    emit: Emit,
    names: ToolNames,
    judge: Judge,
    threadOfTask: (task: string) => ThreadId | undefined = () => undefined,
    isHandedOver: (toolUseId: string) => boolean = () => false,
  ) {
    this.#isHandedOver = isHandedOver;
    this.#emit = emit;
    this.#names = names;
    this.#judge = judge;
    this.#threadOfTask = threadOfTask;
  }

  bareName(full: string): string {
    return nameTool(full, this.#names).name;
  }

  /** Number of open calls of the primary thread. */
  get openOnPrimary(): number {
    return [...this.#open.values()].filter(({ thread }) => thread === null).length;
  }

  find(toolUseId: string): Call | undefined {
    return this.#open.get(toolUseId);
  }

  threadOf(toolUseId: string | undefined): ThreadId | null {
    return this.#threads.get(toolUseId ?? "") ?? null;
  }

  /** Takes over a call of an earlier process. */
  adopt(toolUseId: string, eventId: EventId, name: string): void {
    this.#threads.set(toolUseId, null);
    const tool = nameTool(name, this.#names);
    this.#open.set(toolUseId, { ...tool, toolUseId, eventId, thread: null, input: {} });
  }

  use(thread: ThreadId | null, block: { id: string; name: string; input: unknown }, eventId: EventId): void {
    if (this.#threads.has(block.id)) return;
    const tool = nameTool(block.name, this.#names);
    const input = inputObject.safeParse(block.input).data ?? { value: block.input };
    this.#threads.set(block.id, thread);
    const use = {
      name: tool.name,
      input,
      ...(thread !== null && { session_thread_id: thread }),
      tandem: { tool_use_id: block.id },
    };
    const open = (kind: NamedTool["kind"]): void => {
      this.#open.set(block.id, { ...tool, kind, toolUseId: block.id, eventId, thread, input });
    };
    if (tool.kind === "custom") {
      open("custom");
      this.#emit.event(thread, { type: "agent.custom_tool_use", ...use }, eventId);
      return;
    }
    const to = tool.name === "SendMessage" ? input["to"] : undefined;
    const reaches = typeof to === "string" ? this.#threadOfTask(to) : undefined;
    const { permission, evaluation, verdict, approval } = this.#judge({ ...tool, input, thread, reaches });
    // A denied call never reaches a worker.
    const worker = tool.kind === "worker" && permission !== "deny" ? { worker: true as const } : {};
    const tandem = { ...use.tandem, ...(verdict && { verdict }), ...(approval && { approval }), ...worker };
    if (tool.kind === "question" && permission === "ask") {
      open("question");
      this.#emit.event(thread, { type: "agent.custom_tool_use", ...use, name: QUESTION_TOOL, tandem }, eventId);
      return;
    }
    // A question that the policy does not allow is treated as a normal call.
    open(tool.kind === "question" || (tool.kind === "worker" && permission === "deny") ? "builtin" : tool.kind);
    const judged = { ...use, evaluated_permission: permission, ...(evaluation && { evaluation }), tandem };
    if (tool.mcpServer === undefined) this.#emit.event(thread, { type: "agent.tool_use", ...judged }, eventId);
    else this.#emit.event(thread, { type: "agent.mcp_tool_use", mcp_server_name: tool.mcpServer, ...judged }, eventId);
  }

  /** Returns the call, or undefined if the id is unknown. */
  result(
    block: { tool_use_id: string; content?: unknown; is_error?: boolean },
    output: unknown,
    interrupting: boolean,
  ): Call | undefined {
    const call = this.#open.get(block.tool_use_id);
    if (!call) return undefined;
    this.#open.delete(call.toolUseId);
    const content = resultContent(block.content);
    const words = content[0]?.type === "text" ? content[0].text : "";
    if (interrupting && block.is_error && STOPPED_BY_USER.test(words)) {
      this.#close(call, "interrupt");
      return call;
    }
    const patch = block.is_error ? undefined : filePatch(output);
    const verdict = isSqlQuery(call) ? readVerdictLine(words) : undefined;
    const tandem = { ...(patch && { patch }), ...(verdict && { verdict }) };
    this.#report(call, { content, is_error: block.is_error ?? false, ...((patch ?? verdict) && { tandem }) });
    return call;
  }

  forgetAll(): void {
    this.#open.clear();
  }

  /** Closes open calls that will get no result. */
  closeAll(interrupted: Interruption, which: (call: Call) => boolean = () => true): void {
    for (const call of [...this.#open.values()].filter(which)) {
      this.#open.delete(call.toolUseId);
      this.#close(call, interrupted);
    }
  }

  #close(call: Call, interrupted: Interruption): void {
    const content = [{ type: "text", text: NOT_KNOWN }];
    this.#report(call, { content, is_error: true, tandem: { interrupted } }, true);
  }

  #report({ kind, thread, eventId, toolUseId }: Call, result: object, interrupted = false): void {
    // A worker's call that was denied, by a person or a hook, has no result of the worker.
    const isOwn = kind === "builtin" || (kind === "worker" && !interrupted && !this.#isHandedOver(toolUseId));
    if (isOwn) this.#emit.event(thread, { type: "agent.tool_result", tool_use_id: eventId, ...result });
    if (kind === "mcp")
      this.#emit.event(thread, { type: "agent.mcp_tool_result", mcp_tool_use_id: eventId, ...result });
    // The client's own event already records the result of a custom tool or an answer.
  }
}
