import type { ApprovalNote, ApprovalOutcome } from "./approval-answer.ts";
import type { ToolCallState, VerdictKind } from "../words.ts";
import type { ClientEvent } from "./client-event.ts";
import type { TextBlock, ToolResultContent, UserContent } from "./content.ts";
import type { FilePatch } from "./file-patch.ts";
import type { ModelUsage } from "./model-usage.ts";
import type { OutcomeEventBody } from "./outcome-event.ts";
import type { SessionErrorDetail } from "./session-error.ts";
import type { WorkflowEventBody } from "./workflow-event.ts";
import type { Budget, UsageSnapshot } from "./usage-snapshot.ts";
import type { EventId, SessionId, ThreadId } from "../ids.ts";
import type { SessionAgent } from "../api/agents.ts";
import type { BudgetGauge } from "../config/limits.ts";
import type { PermissionMode, Verdict } from "../config/rule.ts";

// The vocabulary of a session's log: Anthropic's Managed Agents events, and ours with the prefix `tandem.`. Our additions to
// their events are under the key `tandem`, which their clients ignore.

export type StopReason =
  | { type: "end_turn" }
  | { type: "requires_action"; event_ids: EventId[] }
  | { type: "retries_exhausted" }
  | { type: "budget_reached" }
  | { type: "refusal" };

/** Why a turn ended without completing. */
export type CutShort = Exclude<StopReason["type"], "end_turn" | "requires_action">;

export interface StopDetails {
  type: "refusal";
  category: "cyber" | "bio" | "frontier_llm" | "reasoning_extraction" | "general_harms" | null;
  explanation: string | null;
}

export type Permission = "allow" | "ask" | "deny";
export type Evaluation =
  | { type: "always_allow" }
  | { type: "always_ask" }
  /** Each call was judged by itself. `indeterminate`: no judgement was reached; `high_risk`: the call does not run. */
  | {
      type: "auto";
      evaluated_permission:
        | { type: "allow" }
        | { type: "ask"; reason_code: "indeterminate" }
        | { type: "deny"; reason_code: "high_risk" };
    };

/** Our additions to a built-in tool's call or result. */
interface ToolCallNote {
  /** The call's id in the model API and in Claude Code. */
  tool_use_id: string;
  /** The reason why it was allowed, asked about or denied. */
  verdict?: Verdict;
  /** Present on a call that needs approval. */
  approval?: ApprovalNote;
  /** On a question of Tandem itself: the call whose outcome it asks for. */
  outcome_of?: EventId;
}

interface UseBase {
  name: string;
  input: Record<string, unknown>;
  session_thread_id?: ThreadId | null;
  tandem: ToolCallNote;
}

export type Interruption = "crash" | "interrupt" | "stopped";

interface ResultBase {
  content?: ToolResultContent[];
  is_error?: boolean | null;
  tandem?: {
    /** Why the tool's own result is missing: it may have run completely, partly or not at all. */
    interrupted?: Interruption;
    /** The change made by a file tool, as hunks; whole files are never stored. */
    patch?: FilePatch;
    /** The verdict on a statement that the context's `sql_query` ran or refused to run. */
    verdict?: VerdictKind;
  };
}

export interface Todo {
  id: string;
  content: string;
  status: "pending" | "in_progress" | "completed";
  active_form?: string;
}

export interface BackgroundTask {
  id: string;
  /** `shell`, `subagent` or another kind that Claude Code names. */
  kind: string;
  description: string;
  status: string;
  session_thread_id?: ThreadId;
}

/** Everything but `id` and `processed_at`, which every event has. */
export type SessionEventBody =
  // From clients, as they sent it.
  | (Exclude<ClientEvent, { type: "user.custom_tool_result" | "user.define_outcome" }> & {
      session_thread_id?: string | null;
    })
  /** Only in self-hosted environments, where the client runs the built-in tools. */
  | ({ type: "user.tool_result"; tool_use_id: EventId; session_thread_id?: string | null } & Pick<
      ResultBase,
      "content" | "is_error"
    >)
  // The engine also writes it, to close a call that can no longer be answered.
  | (Omit<Extract<ClientEvent, { type: "user.custom_tool_result" }>, "tandem"> & {
      session_thread_id?: string | null;
      tandem?: { by?: string; expired?: true; interrupted?: Interruption };
    })
  // From the agent.
  /** `interrupted`: the partial text when the turn was stopped or its process died. */
  | { type: "agent.message"; content: TextBlock[]; tandem?: { message_id: string; interrupted?: Interruption } }
  | { type: "agent.thinking" }
  | ({ type: "agent.tool_use"; evaluated_permission?: Permission; evaluation?: Evaluation } & UseBase)
  | ({ type: "agent.tool_result"; tool_use_id: EventId } & ResultBase)
  | ({
      type: "agent.mcp_tool_use";
      mcp_server_name: string;
      evaluated_permission?: Permission;
      evaluation?: Evaluation;
    } & UseBase)
  | ({ type: "agent.mcp_tool_result"; mcp_tool_use_id: EventId } & ResultBase)
  | ({ type: "agent.custom_tool_use" } & UseBase)
  | { type: "agent.thread_context_compacted" }
  | {
      type: "agent.thread_message_sent";
      to_session_thread_id: ThreadId;
      to_agent_name?: string | null;
      content: UserContent[];
    }
  | {
      type: "agent.thread_message_received";
      from_session_thread_id: ThreadId;
      from_agent_name?: string | null;
      content: UserContent[];
    }
  // From the session.
  | { type: "session.status_running" }
  | { type: "session.status_idle"; stop_reason: StopReason; stop_details: StopDetails | null }
  | { type: "session.status_rescheduled" }
  | { type: "session.status_terminated"; tandem?: { by: string } }
  | { type: "session.error"; error: SessionErrorDetail }
  | {
      type: "session.updated";
      agent?: SessionAgent;
      budget?: Budget | null;
      metadata?: Record<string, string>;
      title?: string | null;
      tandem?: { by: string };
    }
  | { type: "session.usage"; usage: UsageSnapshot; budget?: Budget | null; tandem?: UsageNote }
  | { type: "session.deleted" }
  | { type: "session.thread_created"; session_thread_id: ThreadId; agent_name: string; workflow_run_id: string | null }
  | { type: "session.thread_status_running"; session_thread_id: ThreadId; agent_name: string }
  | {
      type: "session.thread_status_idle";
      session_thread_id: ThreadId;
      agent_name: string;
      stop_reason: StopReason;
      stop_details: StopDetails | null;
    }
  | { type: "session.thread_status_rescheduled"; session_thread_id: ThreadId; agent_name: string }
  | {
      type: "session.thread_status_terminated";
      session_thread_id: ThreadId;
      agent_name: string;
      tandem?: { by: string };
    }
  | WorkflowEventBody
  | OutcomeEventBody
  | { type: "span.model_request_start"; tandem?: { model?: string } }
  | {
      type: "span.model_request_end";
      model_request_start_id: EventId;
      is_error: boolean | null;
      model_usage: ModelUsage;
      tandem: RequestNote;
    }
  // Ours.
  | {
      type: "tandem.init";
      model: string;
      tools: string[];
      mcp_servers: { name: string; status: string }[];
      folder: string;
      /** Claude Code's own id of the conversation. */
      claude_session_id: string;
      claude_code_version: string;
      /** Whether shell commands run in an operating system sandbox. */
      sandbox?: { on: boolean; reason?: string };
      /** Names of skills of the trusted folder and of the agent. */
      skills?: string[];
    }
  | { type: "tandem.thinking"; thinking_id: EventId; text: string; signature: string | null }
  | { type: "tandem.thinking_redacted"; thinking_id: EventId; data: string }
  | { type: "tandem.todo"; todos: Todo[] }
  | { type: "tandem.background"; tasks: BackgroundTask[] }
  | { type: "tandem.compaction"; trigger: "manual" | "auto"; tokens_before: number; tokens_after?: number }
  | {
      type: "tandem.retry";
      attempt: number;
      max_attempts: number;
      delay_ms: number;
      status: number | null;
      reason: string;
    }
  | { type: "tandem.rate_limit"; status: string; kind?: string; resets_at?: string; utilization?: number }
  | { type: "tandem.model_fallback"; from: string; to: string; reason: string }
  | { type: "tandem.permission_denied"; name: string; tool_use_id: string; reason: string }
  | { type: "tandem.mcp_status"; servers: { name: string; status: string; error?: string }[] }
  /** A queued message that will not be sent to the model. */
  | { type: "tandem.dropped"; event_id: EventId; reason: string }
  /** The object that a turn with an output schema returned. */
  | { type: "tandem.output"; value: unknown }
  /** A process or machine died during a turn; its open calls have been closed. */
  | { type: "tandem.recovered"; cause: string; closed: EventId[] }
  /** Input waits for a worker that does not exist yet; `needs` describes it. A matching worker takes it when it joins. */
  | { type: "tandem.unplaced"; place: string; needs: string }
  /** A worker took the input that `tandem.unplaced` announced. */
  | { type: "tandem.placed"; worker: string }
  /** The worker left the turn between two steps, and another worker continues it. */
  | { type: "tandem.handover"; from: string }
  /** The sum of a turn's requests differs from the total that Claude Code reports. */
  | { type: "tandem.usage_mismatch"; counted: Record<string, ModelUsage>; reported: Record<string, ModelUsage> }
  /**
   * An approval or question has ended: a person answered, or it was denied because it expired or its turn ended. Written once
   * for each; `event_id` is the id of the call.
   */
  | ({ type: "tandem.approval_resolved"; event_id: EventId } & ApprovalOutcome)
  /** The state of a call that a person was asked about. The last one counts; `event_id` is the id of the call. */
  | { type: "tandem.tool_state"; event_id: EventId; state: ToolCallState; reason?: string }
  /** A checkpoint of the working folder at a turn boundary. `message_id` is the message that started the turn. */
  | {
      type: "tandem.checkpoint";
      checkpoint_id: string;
      when: "before" | "after" | "rewind";
      message_id: EventId | null;
      /** The number of files that differ from the previous checkpoint. */
      files_changed: number;
      /** The number of files skipped because of their size. */
      skipped: number;
      /** After a turn that changed files: everything since the session's first checkpoint. */
      total?: { files: number; added: number; removed: number };
      /** After a turn: the checked-out branch, if the folder is a git repository. */
      branch?: string;
    }
  /** Files, conversation or both were rewound to a checkpoint. Later events stay in the log. */
  | {
      type: "tandem.rewound";
      scope: "files" | "conversation" | "both";
      /** The session now continues before this message; null if a rewind was undone. */
      to_message_id: EventId | null;
      /** The checkpoint of the files after the rewind; null if no files changed. */
      checkpoint_id: string | null;
      /** The checkpoint of the files before the rewind; it can undo the rewind. */
      undo_checkpoint_id: string | null;
      files: number;
      /** Claude Code's conversation ids before and after: a rewound conversation continues under a new id. */
      conversation?: { from: string; to: string };
      /** The rewind that this one undoes. */
      undoes?: EventId;
      /** The name of the token that requested it. */
      by?: string;
    }
  /** The session was forked from another one, before that message. */
  | {
      type: "tandem.forked";
      from_session_id: SessionId;
      before_message_id: EventId | null;
      /** The name of the token that requested it. */
      by?: string;
    }
  /** The following events were imported. `usage` was paid outside Tandem. */
  | {
      type: "tandem.imported";
      /** A transcript of Claude Code, or output of `claude --print`. */
      from: "claude-code" | "claude-print";
      claude_session_id: string | null;
      /** The conversation's working folder. */
      folder: string | null;
      claude_code_version: string | null;
      models: string[];
      lines: number;
      /** The number of lines that were not JSON. */
      unreadable: number;
      usage: UsageSnapshot;
      usd: number;
    }
  /** A limit was reached; the session is idle until it is raised. */
  | { type: "tandem.budget"; gauge: BudgetGauge; reason: string }
  /** The turn waits for a quota reset. It continues by itself only if `resumes` is true. */
  | { type: "tandem.parked"; resets_at: string; kind: string; resumes: boolean; window: number }
  /** The turn waits for a free Claude Code process; `ahead` others are served first. `session.status_running` ends the wait. */
  | { type: "tandem.process_wait"; ahead: number }
  | { type: "tandem.mode"; mode: PermissionMode; by: string }
  /** The model and effort of the next turns, and the requested settings that the model ignores. */
  | { type: "tandem.model"; model: string; effort: string | null; ignored: string[] }
  /** A model request of the grader of an outcome. Its usage is also part of the evaluation's end. */
  | { type: "tandem.grader_request"; outcome_id: string; model_usage: ModelUsage; tandem: RequestNote }
  /** A host hook ran. */
  | {
      type: "tandem.hook";
      on: string;
      hook: string;
      outcome: "passed" | "changed" | "blocked" | "failed";
      message?: string;
      event_id?: EventId;
    }
  /** A message was a slash command; `text` is its expansion. */
  | { type: "tandem.command"; message_id: EventId; name: string; arguments: string; source: string; text: string }
  /** A shell command that a person ran in the session's folder. Its output goes to the model with the next message. */
  | { type: "tandem.shell"; command: string; exit_code: number | null; output: string; truncated: boolean; by: string }
  /** A bot has pushed the session's files to a branch. */
  | {
      type: "tandem.push";
      remote: string;
      branch: string;
      commit: string;
      pull_request: { number: number; url: string } | null;
      bot: string;
      requester: string | null;
    }
  /** A resource of the session changed. `kept`: why its file stayed when it was removed. */
  | {
      type: "tandem.resource";
      action: "added" | "updated" | "removed" | "cloned";
      resource_id: string;
      resource_type: "file" | "github_repository" | "memory_store";
      mount_path: string;
      kept?: string;
      by?: string;
    }
  /** A client changed a file of the session's folder. `sha256` is the new content; `to` is where it was moved. */
  | {
      type: "tandem.file";
      action: "written" | "moved" | "deleted" | "folder";
      path: string;
      to?: string;
      sha256?: string;
      by: string;
    }
  | { type: "tandem.notice"; level: "info" | "warning" | "error"; text: string }
  /** A message of Claude Code that has no mapping. */
  | { type: "tandem.unknown"; kind: string; message: unknown };

export interface RequestNote {
  /** The answering model and its message; a request that failed before an answer has neither. */
  model?: string;
  message_id?: string;
  cache_write_5m_tokens?: number;
  cache_write_1h_tokens?: number;
  web_searches?: number;
  /** The list price, if known. */
  usd?: number;
}

export interface UsageNote {
  usd: number;
  by_model: Record<string, UsageSnapshot & { usd: number }>;
  by_thread: Record<string, UsageSnapshot & { usd: number }>;
  /** Model responses, ended turns, and active time without waits for people. */
  requests?: number;
  turns?: number;
  worked_ms?: number;
}

/** A durable fact. `processed_at` is null only on client events that wait in the input queue. */
export type SessionEvent = SessionEventBody & { id: EventId; processed_at: string | null };
export type SessionEventType = SessionEvent["type"];
export type EventOf<T extends SessionEventType> = Extract<SessionEvent, { type: T }>;

/** An event at its position in the log. `thread` is null on the session's primary thread. */
export interface LoggedEvent {
  /** Starts at 1 in each session, without gaps. */
  seq: number;
  thread: ThreadId | null;
  event: SessionEvent;
}

/** A live preview. Never stored, without an id. `tandem.*` deltas go only to clients that request them. */
export type Delta =
  | { type: "event_start"; event: { type: "agent.message" | "agent.thinking"; id: EventId } }
  | { type: "event_delta"; event_id: EventId; delta: { type: "content_delta"; index?: number; content: TextBlock } }
  | { type: "tandem.thinking_delta"; event_id: EventId; text: string }
  | { type: "tandem.tool_input_start"; event_id: EventId; name: string }
  | { type: "tandem.tool_input_delta"; event_id: EventId; json: string }
  | { type: "tandem.tool_progress"; event_id: EventId; elapsed_seconds: number };

export interface LiveDelta {
  thread: ThreadId | null;
  delta: Delta;
}

/** Whether an event of a subagent's thread also appears on the session's stream: approval requests do. */
export function isOnPrimary({ thread, event }: Pick<LoggedEvent, "thread" | "event">): boolean {
  if (thread === null) return true;
  switch (event.type) {
    case "agent.tool_use":
    case "agent.mcp_tool_use":
      return event.evaluated_permission === "ask";
    case "session.thread_created":
    case "session.thread_status_running":
    case "session.thread_status_idle":
    case "session.thread_status_rescheduled":
    case "session.thread_status_terminated":
    case "agent.custom_tool_use":
    case "user.tool_confirmation":
    case "user.custom_tool_result":
      return true;
    default:
      return false;
  }
}
