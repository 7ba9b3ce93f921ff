import type { SessionEvent } from "../events/session-event.ts";
import type { CassetteInput } from "./cassette.ts";

/** Inputs that a cassette only names, because no replay can repeat them. */
export type UnrepeatableType =
  | "user.define_outcome"
  | "tandem.shell"
  | "tandem.file"
  | "tandem.parked"
  | "tandem.recovered"
  | "tandem.forked"
  | "tandem.imported";

/** Events that bring nothing into a session, or that `stepsOf` reads itself. The compiler reports a new type in neither list. */
type NoInputType =
  | `${"agent" | "session" | "span" | "workflow_run"}.${string}`
  | `tandem.${
      | "init"
      | "thinking"
      | "thinking_redacted"
      | "todo"
      | "background"
      | "retry"
      | "rate_limit"
      | "model_fallback"
      | "permission_denied"
      | "mcp_status"
      | "dropped"
      | "output"
      | "usage_mismatch"
      | "approval_resolved"
      | "tool_state"
      | "checkpoint"
      | "rewound"
      | "budget"
      | "process_wait"
      | "unplaced"
      | "placed"
      | "handover"
      | "mode"
      | "model"
      | "grader_request"
      | "side_request"
      | "hook"
      | "command"
      | "push"
      | "resource"
      | "sandbox_violation"
      | "diagnostics"
      | "notice"
      | "unknown"}`;

/** The input that an event carries into a session, if it carries one. `callOf` names a call by the model's id. */
export function inputOf(event: SessionEvent, callOf: (eventId: string) => string): CassetteInput | undefined {
  switch (event.type) {
    case "user.message": {
      const { delivery, model, effort, commands } = event.tandem ?? {};
      return {
        type: event.type,
        content: event.content,
        ...(delivery && { delivery }),
        ...(model && { model }),
        ...(effort && { effort }),
        ...(commands && { commands }),
      };
    }
    case "system.message":
      return { type: event.type, content: event.content };
    case "user.interrupt":
      return { type: event.type };
    case "user.tool_confirmation": {
      const { scope, save_for, rule, input, mode } = event.tandem ?? {};
      return {
        type: event.type,
        call: callOf(event.tool_use_id),
        result: event.result,
        ...(event.deny_message && { deny_message: event.deny_message }),
        ...(scope && { scope }),
        ...(save_for && { save_for }),
        ...(rule && { rule }),
        ...(input && { input }),
        ...(mode && { mode }),
      };
    }
    case "user.custom_tool_result": {
      // The engine closed the call with the turn; no client sent this.
      if (event.tandem?.interrupted) return undefined;
      const { content = [], is_error: failed } = event;
      return { type: event.type, call: callOf(event.custom_tool_use_id), content, is_error: failed ?? false };
    }
    case "session.updated": {
      const { metadata, agent } = event;
      if (!metadata && !agent) return undefined;
      return { type: event.type, ...(metadata && { metadata }), ...(agent && { tools: agent.tools }) };
    }
    case "user.tool_result": {
      if (event.tandem?.interrupted) return undefined;
      const { content = [], is_error: failed } = event;
      return { type: event.type, call: callOf(event.tool_use_id), content, is_error: failed ?? false };
    }
    case "user.define_outcome": {
      const { description, rubric, max_iterations, tandem } = event;
      if (rubric.type === "file") return unrepeatable(event.type);
      const grader = tandem?.grader;
      return { type: event.type, description, rubric, max_iterations, ...(grader && { grader }) };
    }
    case "tandem.compaction": {
      const { type, trigger, tokens_before, tokens_after } = event;
      return { type, trigger, tokens_before, ...(tokens_after !== undefined && { tokens_after }) };
    }
    case "tandem.shell":
    case "tandem.file":
    case "tandem.parked":
    case "tandem.recovered":
    case "tandem.forked":
    case "tandem.imported":
      return unrepeatable(event.type);
    default:
      event.type satisfies NoInputType;
      return undefined;
  }
}

const unrepeatable = (type: UnrepeatableType): CassetteInput => ({ type: "other", event: type });
