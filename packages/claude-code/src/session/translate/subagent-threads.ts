import type {
  SDKAssistantMessage,
  SDKTaskNotificationMessage,
  SDKTaskStartedMessage,
} from "@anthropic-ai/claude-agent-sdk";
import type { StopReason, ThreadId, WorkflowLeaf, WorkflowRunId } from "@tandem/protocol";
import type { Emit } from "./emit.ts";

/** A subagent started by an earlier process of the conversation. */
export interface KnownThread {
  toolUseId: string;
  taskId: string;
  agentName: string;
}

interface Thread {
  id: ThreadId;
  agentName: string;
  /** The sender of the last message, which receives the answer. */
  caller: Party;
  running: boolean;
  /** Its model request failed and is retried. */
  retrying: boolean;
  background: boolean;
  /** Its latest text. */
  words: string;
  /** The workflow run that it works for. */
  workflow?: { run: WorkflowRunId; leaf: WorkflowLeaf };
  /** Whether it was given its task. */
  isTold?: boolean;
}

interface Party {
  /** Thread of its events; null for the primary thread. */
  thread: ThreadId | null;
  id: ThreadId;
  name: string | null;
}

/**
 * Subagents as threads. A thread is identified by the call that started it: every message of a subagent names that
 * call, also after a resume in another process.
 */
export class Threads {
  readonly #emit: Emit;
  readonly #idOf: (toolUseId: string) => ThreadId;
  readonly #primary: ThreadId;
  readonly #byCall = new Map<string, Thread>();
  readonly #byTask = new Map<string, Thread>();
  readonly #byId = new Map<ThreadId, Thread>();

  constructor(emit: Emit, settings: { idOf: (toolUseId: string) => ThreadId; primary: ThreadId }) {
    this.#emit = emit;
    this.#idOf = settings.idOf;
    this.#primary = settings.primary;
  }

  remember(known: readonly KnownThread[]): void {
    for (const { toolUseId, taskId, agentName } of known) {
      this.#add(toolUseId, taskId, agentName, this.#party(null));
    }
  }

  ofTask(taskId: string | undefined): ThreadId | undefined {
    return this.#byTask.get(taskId ?? "")?.id;
  }

  /** Whether it continues after the turn ends. */
  isInBackground(thread: ThreadId | null): boolean {
    const known = thread === null ? undefined : this.#byId.get(thread);
    return known !== undefined && known.running && known.background;
  }

  /** The thread of a message. An unannounced thread is announced now. */
  ofMessage(message: {
    parent_tool_use_id: string | null;
    agent_id?: string;
    subagent_type?: string;
  }): ThreadId | null {
    const toolUseId = message.parent_tool_use_id;
    if (toolUseId === null) return null;
    const known = this.#byCall.get(toolUseId);
    if (known) return known.id;
    const thread = this.#add(toolUseId, message.agent_id, message.subagent_type ?? "subagent", this.#party(null));
    this.#announce(thread);
    return thread.id;
  }

  started(message: SDKTaskStartedMessage, callerThread: ThreadId | null): void {
    const caller = this.#party(callerThread);
    const known = this.#byTask.get(message.task_id);
    const thread =
      known ??
      this.#add(
        message.tool_use_id ?? message.task_id,
        message.task_id,
        message.subagent_type ?? message.description,
        caller,
      );
    Object.assign(thread, { caller, background: message.is_backgrounded ?? false, words: "" });
    if (known) this.#run(thread);
    else this.#announce(thread);
    if (message.prompt) this.#exchange(caller, this.#party(thread.id), message.prompt);
  }

  /** An agent of a workflow run, by Claude Code's id. */
  leafStarted(
    agent: string,
    { agentName, run, leaf }: { agentName: string; run: WorkflowRunId; leaf: WorkflowLeaf },
  ): ThreadId {
    const thread = this.#add(agent, agent, agentName, this.#party(null));
    Object.assign(thread, { background: true, workflow: { run, leaf } });
    this.#announce(thread);
    return thread.id;
  }

  /** The task of a leaf. The plan gives it, so the primary thread has no message that was sent. */
  leafTold(id: ThreadId, text: string): void {
    const thread = this.#byId.get(id);
    if (!thread || thread.isTold) return;
    thread.isTold = true;
    this.#emit.event(id, {
      type: "agent.thread_message_received",
      from_session_thread_id: this.#primary,
      from_agent_name: null,
      content: [{ type: "text", text }],
    });
  }

  leafEnded(id: ThreadId, error?: string): void {
    const thread = this.#byId.get(id);
    if (thread?.running) this.#rest(thread, error === undefined ? "end_turn" : "retries_exhausted", error);
  }

  movedToBackground(taskId: string): void {
    const thread = this.#byTask.get(taskId);
    if (thread) thread.background = true;
  }

  spoke(id: ThreadId, blocks: SDKAssistantMessage["message"]["content"]): void {
    const thread = this.#byId.get(id);
    const words = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
    if (thread && words) thread.words = words;
    if (thread?.retrying) this.#run(thread);
  }

  /** A model request of a subagent failed and is retried. Several retries in a row change its status once. */
  retry(id: ThreadId | null): void {
    const thread = id === null ? undefined : this.#byId.get(id);
    if (!thread?.running || thread.retrying) return;
    thread.retrying = true;
    this.#emit.event(thread.caller.thread, {
      type: "session.thread_status_rescheduled",
      session_thread_id: thread.id,
      agent_name: thread.agentName,
    });
  }

  ended({ task_id, status, summary }: Pick<SDKTaskNotificationMessage, "task_id" | "status" | "summary">): void {
    const thread = this.#byTask.get(task_id);
    if (!thread?.running) return;
    // A stopped subagent has no report: its summary only repeats its prompt.
    const words = { completed: thread.words || summary, failed: summary, stopped: "" }[status];
    if (words) this.#exchange(this.#party(thread.id), thread.caller, words);
    this.#rest(thread, status === "failed" ? "retries_exhausted" : "end_turn");
  }

  /** Ends the threads that end with the turn. */
  endAll(inBackgroundToo: boolean): void {
    for (const thread of this.#byCall.values()) {
      if (thread.running && (inBackgroundToo || !thread.background)) this.#rest(thread, "end_turn");
    }
  }

  #add(toolUseId: string, taskId: string | undefined, agentName: string, caller: Party): Thread {
    const thread: Thread = {
      id: this.#idOf(toolUseId),
      agentName,
      caller,
      running: false,
      retrying: false,
      background: false,
      words: "",
    };
    this.#byCall.set(toolUseId, thread);
    if (taskId !== undefined) this.#byTask.set(taskId, thread);
    this.#byId.set(thread.id, thread);
    return thread;
  }

  #announce(thread: Thread): void {
    this.#emit.event(thread.caller.thread, {
      type: "session.thread_created",
      session_thread_id: thread.id,
      agent_name: thread.agentName,
      workflow_run_id: thread.workflow?.run ?? null,
      ...(thread.workflow && { tandem: { leaf: thread.workflow.leaf } }),
    });
    this.#run(thread);
  }

  #run(thread: Thread): void {
    thread.running = true;
    thread.retrying = false;
    this.#emit.event(thread.caller.thread, {
      type: "session.thread_status_running",
      session_thread_id: thread.id,
      agent_name: thread.agentName,
    });
  }

  #rest(thread: Thread, stop: StopReason["type"] & ("end_turn" | "retries_exhausted"), error?: string): void {
    thread.running = false;
    thread.retrying = false;
    this.#emit.event(thread.caller.thread, {
      type: "session.thread_status_idle",
      session_thread_id: thread.id,
      agent_name: thread.agentName,
      stop_reason: { type: stop },
      stop_details: null,
      ...(error !== undefined && { tandem: { error } }),
    });
  }

  #exchange(from: Party, to: Party, text: string): void {
    const content = [{ type: "text" as const, text }];
    this.#emit.event(from.thread, {
      type: "agent.thread_message_sent",
      to_session_thread_id: to.id,
      to_agent_name: to.name,
      content,
    });
    this.#emit.event(to.thread, {
      type: "agent.thread_message_received",
      from_session_thread_id: from.id,
      from_agent_name: from.name,
      content,
    });
  }

  #party(thread: ThreadId | null): Party {
    if (thread === null) return { thread: null, id: this.#primary, name: null };
    return { thread, id: thread, name: this.#byId.get(thread)?.agentName ?? null };
  }
}
