import type { ApprovalNote } from "./approval-answer.ts";
import type { VerdictKind } from "../words.ts";
import type { ClientEvent } from "./client-event.ts";
import type { TextBlock, ToolResultContent, UserContent } from "./content.ts";
import type { FilePatch } from "./file-patch.ts";
import type { ModelUsage } from "./model-usage.ts";
import type { OutcomeEventBody } from "./outcome-event.ts";
import type { SessionErrorDetail } from "./session-error.ts";
import type { RequestNote, TandemEventBody } from "./tandem-event.ts";
import type { WorkflowEventBody, WorkflowLeaf } from "./workflow-event.ts";
import type { Budget, UsageSnapshot } from "./usage-snapshot.ts";
import type { EventId, ThreadId, WorkflowRunId } from "../ids.ts";
import type { SessionAgent } from "../api/agents/agents.ts";
import type { Verdict } from "../config/rule.ts";

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
  /** A worker of the self-hosted environment runs the call, and answers it with `user.tool_result`. */
  worker?: true;
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

interface ClientResultNote {
  session_thread_id?: string | null;
  tandem?: { by?: string; expired?: true; interrupted?: Interruption };
}

/** Everything but `id` and `processed_at`, which every event has. */
export type SessionEventBody =
  // From clients, as they sent it.
  | (Exclude<ClientEvent, { type: "user.custom_tool_result" | "user.tool_result" | "user.define_outcome" }> & {
      session_thread_id?: string | null;
    })
  // The engine also writes these two, to close a call that can no longer be answered.
  | (Omit<Extract<ClientEvent, { type: "user.custom_tool_result" }>, "tandem"> & ClientResultNote)
  | (Omit<Extract<ClientEvent, { type: "user.tool_result" }>, "tandem"> & ClientResultNote)
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
  | {
      type: "session.thread_created";
      session_thread_id: ThreadId;
      agent_name: string;
      workflow_run_id: WorkflowRunId | null;
      tandem?: { leaf: WorkflowLeaf };
    }
  | { type: "session.thread_status_running"; session_thread_id: ThreadId; agent_name: string }
  | {
      type: "session.thread_status_idle";
      session_thread_id: ThreadId;
      agent_name: string;
      stop_reason: StopReason;
      stop_details: StopDetails | null;
      /** On an agent of a workflow run: why it failed, and its list price so far. */
      tandem?: { error?: string; usd?: number };
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
  | TandemEventBody;

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
      return event.evaluated_permission === "ask" || event.tandem?.worker === true;
    case "session.thread_created":
    case "session.thread_status_running":
    case "session.thread_status_idle":
    case "session.thread_status_rescheduled":
    case "session.thread_status_terminated":
    case "agent.custom_tool_use":
    case "user.tool_confirmation":
    case "user.custom_tool_result":
    case "user.tool_result":
      return true;
    default:
      return false;
  }
}
