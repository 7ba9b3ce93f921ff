import type { BackgroundTask } from "../api/sessions/session-tasks.ts";
import type { BudgetGauge } from "../config/limits.ts";
import type { PermissionMode } from "../config/rule.ts";
import type { EventId, SessionId } from "../ids.ts";
import type { SandboxViolationKind, ToolCallState } from "../words.ts";
import type { ApprovalOutcome } from "./approval-answer.ts";
import type { CodeDiagnostic } from "./code-diagnostic.ts";
import type { ModelUsage } from "./model-usage.ts";
import type { Todo } from "./todo.ts";
import type { UsageSnapshot } from "./usage-snapshot.ts";

// The events that Anthropic's API does not have. Their types begin with `tandem.`.

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

/** Whether a session's process runs in a sandbox, and what that covers on this machine. */
export interface SandboxState {
  on: boolean;
  /** Why it is off, and how to turn it on. */
  reason?: string;
  fix?: string;
  /** `none`: only the model's API is reachable, because a program for the relay is missing. */
  network?: "proxy" | "none";
  /** `outside`: the process has a stand-in. `access_token`: it has the short-lived token of a login, never the refresh token. */
  credential?: "outside" | "access_token";
  /** The limits that bind, such as `processes 2048`, and those that this machine does not enforce. */
  limits?: { bind: string[]; open: string[] };
}

export type TandemEventBody =
  | {
      type: "tandem.init";
      model: string;
      tools: string[];
      mcp_servers: { name: string; status: string }[];
      folder: string;
      /** Claude Code's own id of the conversation. */
      claude_session_id: string;
      claude_code_version: string;
      sandbox?: SandboxState;
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
  /**
   * Input waits for a worker that does not exist yet; `needs` describes it, and `fix` says what to do. A matching worker
   * takes it when it joins.
   */
  | { type: "tandem.unplaced"; place: string; needs: string; fix?: string }
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
  /** A model request besides the conversation's: of a program that the agent ran in the sandbox, or of Claude Code itself. */
  | { type: "tandem.side_request"; model_usage: ModelUsage; tandem: RequestNote }
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
  /**
   * The sandbox blocked something. `rule` is the reason and `fix` the way to allow it, one sentence each. `target` is a host
   * with an optional port, a path, or the name of a limit; `event_id` is the call, if known.
   */
  | {
      type: "tandem.sandbox_violation";
      kind: SandboxViolationKind;
      target: string;
      rule: string;
      fix: string;
      event_id?: EventId;
    }
  /** Errors that an edit added, by a language server. `event_id` is the edit's call; `total` counts those that are left out, too. */
  | {
      type: "tandem.diagnostics";
      event_id: EventId;
      server: string;
      diagnostics: CodeDiagnostic[];
      total: number;
    }
  | { type: "tandem.notice"; level: "info" | "warning" | "error"; text: string }
  /** A message of Claude Code that has no mapping. */
  | { type: "tandem.unknown"; kind: string; message: unknown };
