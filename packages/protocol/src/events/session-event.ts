import type { ApprovalNote, ApprovalOutcome } from "./approval-answer.ts";
import type { ClientEvent } from "./client-event.ts";
import type { TextBlock, ToolResultContent, UserContent } from "./content.ts";
import type { FilePatch } from "./file-patch.ts";
import type { Budget, UsageSnapshot } from "./usage-snapshot.ts";
import type { EventId, SessionId, ThreadId } from "../ids.ts";
import type { SessionAgent } from "../api/agents.ts";
import type { BudgetGauge } from "../config/limits.ts";
import type { PermissionMode, Verdict } from "../config/rule.ts";

// The vocabulary of a session's log: Anthropic's Managed Agents events, and ours with the prefix `tandem.`. What we add to
// one of theirs stands under its key `tandem`, which their clients pass over.

export type StopReason =
  | { type: "end_turn" }
  | { type: "requires_action"; event_ids: EventId[] }
  | { type: "retries_exhausted" }
  | { type: "budget_reached" }
  | { type: "refusal" };

/** Why a turn came to no good end. */
export type CutShort = Exclude<StopReason["type"], "end_turn" | "requires_action">;

export interface StopDetails {
  type: "refusal";
  category: "cyber" | "bio" | "frontier_llm" | "reasoning_extraction" | "general_harms" | null;
  explanation: string | null;
}

export type Permission = "allow" | "ask" | "deny";
export type Evaluation = { type: "always_allow" } | { type: "always_ask" };

export type SessionErrorType =
  | "unknown_error"
  | "model_overloaded_error"
  | "model_rate_limited_error"
  | "model_request_failed_error"
  | "mcp_connection_failed_error"
  | "mcp_authentication_failed_error"
  | "billing_error"
  | "tool_use_limit_reached_error"
  | "compaction_limit_reached_error";

export interface SessionErrorDetail {
  type: SessionErrorType;
  message: string;
  retry_status: { type: "retrying" | "exhausted" | "terminal" };
  mcp_server_name?: string;
  /** A stable code of ours, and what to do. */
  tandem?: { code: string; fix?: string; resets_at?: string };
}

/** Tokens of one model request, in Anthropic's words. */
export interface ModelUsage {
  input_tokens: number;
  output_tokens: number;
  cache_read_input_tokens: number;
  cache_creation_input_tokens: number;
}

/** What a built-in tool's call or result carries beside the standard fields. */
interface ToolCallNote {
  /** The id by which the model and Claude Code know the call. */
  tool_use_id: string;
  /** Why it was allowed, asked for or denied. */
  verdict?: Verdict;
  /** Of a call that somebody is asked about. */
  approval?: ApprovalNote;
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
    /** Why there is no result of the tool itself: it may have run wholly, partly or not at all. */
    interrupted?: Interruption;
    /** What a file-changing tool changed, as hunks; whole files are never kept. */
    patch?: FilePatch;
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
  /** `shell`, `subagent` or whatever kind Claude Code names. */
  kind: string;
  description: string;
  status: string;
  session_thread_id?: ThreadId;
}

/** Everything but `id` and `processed_at`, which every event has. */
export type SessionEventBody =
  // From clients, as they sent it.
  | (Exclude<ClientEvent, { type: "user.custom_tool_result" }> & { session_thread_id?: string | null })
  // Also the engine's, for a call that nobody can answer any more.
  | (Omit<Extract<ClientEvent, { type: "user.custom_tool_result" }>, "tandem"> & {
      session_thread_id?: string | null;
      tandem?: { by?: string; expired?: true; interrupted?: Interruption };
    })
  // From the agent.
  /** `interrupted`: what had been said when the turn was stopped or its process died. */
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
  | { type: "session.thread_created"; session_thread_id: ThreadId; agent_name: string; workflow_run_id: null }
  | { type: "session.thread_status_running"; session_thread_id: ThreadId; agent_name: string }
  | {
      type: "session.thread_status_idle";
      session_thread_id: ThreadId;
      agent_name: string;
      stop_reason: StopReason;
      stop_details: StopDetails | null;
    }
  | { type: "session.thread_status_terminated"; session_thread_id: ThreadId; agent_name: string }
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
      /** The conversation's name in Claude Code's own books. */
      claude_session_id: string;
      claude_code_version: string;
      /** Whether shell commands run in a sandbox of the operating system. */
      sandbox?: { on: boolean; reason?: string };
      /** Of a trusted folder. */
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
  /** A message that was waiting and will not be put to the model any more. */
  | { type: "tandem.dropped"; event_id: EventId; reason: string }
  /** The object that a turn under an output schema ended with. */
  | { type: "tandem.output"; value: unknown }
  /** A process or machine died in the middle of a turn; what was open has been closed. */
  | { type: "tandem.recovered"; cause: string; closed: EventId[] }
  /** Something waits, and no worker that lives can take it. It is taken when one comes. `needs` says what it takes. */
  | { type: "tandem.unplaced"; place: string; needs: string }
  /** A worker has come for what was said to wait for one. */
  | { type: "tandem.placed"; worker: string }
  /** Whoever ran the turn has left it between two steps, and another worker goes on with it. */
  | { type: "tandem.handover"; from: string }
  /** What the requests of a turn add up to is not what Claude Code says the turn took. */
  | { type: "tandem.usage_mismatch"; counted: Record<string, ModelUsage>; reported: Record<string, ModelUsage> }
  /**
   * An approval or a question has come to its end: answered by somebody, or denied because it expired or its turn ended.
   * Written for each, once; `event_id` is that of the call.
   */
  | ({ type: "tandem.approval_resolved"; event_id: EventId } & ApprovalOutcome)
  /** The tree of the working folder at a boundary of a turn. `message_id` is the message that began the turn. */
  | {
      type: "tandem.checkpoint";
      checkpoint_id: string;
      when: "before" | "after" | "rewind";
      message_id: EventId | null;
      /** Files that differ from the checkpoint before it. */
      files_changed: number;
      /** Files that were left out, because of their size. */
      skipped: number;
    }
  /** Files, conversation or both stand where they stood at a checkpoint. What came after stays in the log. */
  | {
      type: "tandem.rewound";
      scope: "files" | "conversation" | "both";
      /** The message that the session stands before now; null where a rewind was undone. */
      to_message_id: EventId | null;
      /** The files as they are from then on; null where none were touched. */
      checkpoint_id: string | null;
      /** The files as they were: by this checkpoint the rewind itself can be undone. */
      undo_checkpoint_id: string | null;
      files: number;
      /** The conversation's names in Claude Code's own books, before and after: a rewound one goes on under a new one. */
      conversation?: { from: string; to: string };
      /** The rewind that this one takes back. */
      undoes?: EventId;
      /** Who asked for it: the token's name. */
      by?: string;
    }
  /** The session began as a copy of another, up to and without that message. */
  | {
      type: "tandem.forked";
      from_session_id: SessionId;
      before_message_id: EventId | null;
      /** Who asked for it: the token's name. */
      by?: string;
    }
  /** What follows happened elsewhere, and was read from there. `usage` is what it took: somebody else has paid for it. */
  | {
      type: "tandem.imported";
      /** A transcript of Claude Code's, or what `claude --print` wrote. */
      from: "claude-code" | "claude-print";
      claude_session_id: string | null;
      /** Where it worked. */
      folder: string | null;
      claude_code_version: string | null;
      models: string[];
      lines: number;
      /** Lines that were not JSON. */
      unreadable: number;
      usage: UsageSnapshot;
      usd: number;
    }
  /** A limit was met; the session is idle until it is raised. */
  | { type: "tandem.budget"; gauge: BudgetGauge; reason: string }
  /** The turn waits for a quota to reset. It goes on by itself only where that is said. */
  | { type: "tandem.parked"; resets_at: string; kind: string; resumes: boolean; window: number }
  | { type: "tandem.mode"; mode: PermissionMode; by: string }
  /** What the next turn runs on, and which of the wishes the model ignores. */
  | { type: "tandem.model"; model: string; effort: string | null; ignored: string[] }
  /** A host hook was asked. */
  | {
      type: "tandem.hook";
      on: string;
      hook: string;
      outcome: "passed" | "changed" | "blocked" | "failed";
      message?: string;
      event_id?: EventId;
    }
  /** A message was a slash command; `text` is what it stands for. */
  | { type: "tandem.command"; message_id: EventId; name: string; arguments: string; source: string; text: string }
  /** A command that a person ran in the session's folder; its output is told to the model with the next message. */
  | { type: "tandem.shell"; command: string; exit_code: number | null; output: string; truncated: boolean; by: string }
  | { type: "tandem.notice"; level: "info" | "warning" | "error"; text: string }
  /** Something that Claude Code said and we have no word for. */
  | { type: "tandem.unknown"; kind: string; message: unknown };

export interface RequestNote {
  /** The model that answered, and its message; a request that failed before an answer has neither. */
  model?: string;
  message_id?: string;
  cache_write_5m_tokens?: number;
  cache_write_1h_tokens?: number;
  web_searches?: number;
  /** List price, where it is known. */
  usd?: number;
}

export interface UsageNote {
  usd: number;
  by_model: Record<string, UsageSnapshot & { usd: number }>;
  by_thread: Record<string, UsageSnapshot & { usd: number }>;
  /** Answers of the model, turns that have ended, and time at work, without what was spent waiting for people. */
  requests?: number;
  turns?: number;
  worked_ms?: number;
}

/** A durable fact. `processed_at` is null only while it waits in the inbox, and only on what clients sent. */
export type SessionEvent = SessionEventBody & { id: EventId; processed_at: string | null };
export type SessionEventType = SessionEvent["type"];
export type EventOf<T extends SessionEventType> = Extract<SessionEvent, { type: T }>;

/** An event in its place in the log. `thread` is null on the session's primary thread. */
export interface LoggedEvent {
  /** From 1, without gaps, within its session. */
  seq: number;
  thread: ThreadId | null;
  event: SessionEvent;
}

/** A live preview. Never stored, no id of its own. `tandem.*` ones go to clients that ask for ours. */
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

/** Whether an event of a subagent's thread is shown on the session's own stream too: what waits for a person is. */
export function isOnPrimary({ thread, event }: Pick<LoggedEvent, "thread" | "event">): boolean {
  if (thread === null) return true;
  switch (event.type) {
    case "agent.tool_use":
    case "agent.mcp_tool_use":
      return event.evaluated_permission === "ask";
    case "session.thread_created":
    case "session.thread_status_running":
    case "session.thread_status_idle":
    case "session.thread_status_terminated":
    case "agent.custom_tool_use":
    case "user.tool_confirmation":
    case "user.custom_tool_result":
      return true;
    default:
      return false;
  }
}
