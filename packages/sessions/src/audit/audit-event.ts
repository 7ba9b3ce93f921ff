import type { AuditKind, AuditNote, LoggedEvent, SessionEvent, SessionEventType } from "@tandem/protocol";
import { fingerprint } from "./clean-details.ts";

type Told = { kind: AuditKind; actor: string; details: Record<string, unknown> };

/** The session, used to name its agent as the actor. */
interface Who {
  agent: string;
}

/** Event types that are audited. The others describe how, not what was done. */
export const AUDITED: readonly SessionEventType[] = [
  "user.message",
  "system.message",
  "user.define_outcome",
  "user.interrupt",
  "user.tool_confirmation",
  "user.custom_tool_result",
  "user.tool_result",
  "agent.tool_use",
  "agent.mcp_tool_use",
  "agent.custom_tool_use",
  "agent.tool_result",
  "agent.mcp_tool_result",
  "session.status_idle",
  "session.status_terminated",
  "session.error",
  "session.updated",
  "session.usage",
  "span.outcome_evaluation_end",
  "tandem.permission_denied",
  "tandem.dropped",
  "tandem.recovered",
  "tandem.approval_resolved",
  "tandem.checkpoint",
  "tandem.rewound",
  "tandem.budget",
  "tandem.parked",
  "tandem.mode",
  "tandem.model",
  "tandem.hook",
  "tandem.command",
  "tandem.shell",
  "tandem.push",
  "tandem.resource",
  "tandem.file",
];

/** The audit entry for a session event, if there is one. Pure, so a second read gives the same entry. */
export function auditEvent({ thread, event }: LoggedEvent, who: Who): AuditNote | undefined {
  const told = tell(event, who);
  if (!told) return undefined;
  const { kind, actor, details } = told;
  const at = event.processed_at ?? undefined;
  return { kind, actor, details: { event: event.id, ...(thread && { thread }), ...details }, ...(at && { at }) };
}

function tell(event: SessionEvent, who: Who): Told | undefined {
  const agent = `agent:${who.agent}`;
  const tandem = (kind: AuditKind, details: Record<string, unknown>): Told => ({ kind, actor: "tandem", details });
  switch (event.type) {
    case "user.message":
    case "system.message": {
      const text = event.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
      return {
        kind: "message.sent",
        actor: event.tandem?.by ?? "unknown",
        details: { text, sha256: fingerprint(event.content), ...(event.type === "system.message" && { system: true }) },
      };
    }
    case "user.define_outcome": {
      const { outcome_id: outcome, description: text, rubric, max_iterations, tandem: note } = event;
      const sha256 = fingerprint([text, rubric]);
      return {
        kind: "message.sent",
        actor: note?.by ?? "unknown",
        details: { outcome, text, sha256, max_iterations, grader: note?.grader },
      };
    }
    case "span.outcome_evaluation_end": {
      const { outcome_id: outcome, iteration, result, explanation } = event;
      return tandem("outcome.evaluated", { outcome, iteration, result, explanation });
    }
    case "user.interrupt":
      return { kind: "turn.interrupted", actor: event.tandem?.by ?? "unknown", details: {} };
    case "user.tool_confirmation": {
      const { tool_use_id: call, result, deny_message: message, tandem: note } = event;
      const { by = "unknown", scope, rule, input, mode, save_for: savedFor } = note ?? {};
      const edited = input && { edited_input: input, edited_sha256: fingerprint(input) };
      return {
        kind: "call.answered",
        actor: by,
        details: { call, result, message, scope, rule, mode, saved_for: savedFor, ...edited },
      };
    }
    case "user.custom_tool_result":
    case "user.tool_result":
      return {
        kind: "call.answered",
        actor: event.tandem?.by ?? (event.tandem?.interrupted ? "tandem" : "unknown"),
        details: {
          call: event.type === "user.tool_result" ? event.tool_use_id : event.custom_tool_use_id,
          is_error: event.is_error ?? false,
          sha256: fingerprint(event.content),
        },
      };
    case "agent.tool_use":
    case "agent.mcp_tool_use":
    case "agent.custom_tool_use": {
      const { name, input, tandem: note } = event;
      const permission = event.type === "agent.custom_tool_use" ? undefined : event.evaluated_permission;
      return {
        kind: "call.requested",
        actor: agent,
        details: {
          tool: event.type === "agent.mcp_tool_use" ? `mcp__${event.mcp_server_name}__${name}` : name,
          input,
          input_sha256: fingerprint(input),
          permission,
          verdict: note.verdict,
          approval: note.approval && { kind: note.approval.kind, expires_at: note.approval.expires_at },
        },
      };
    }
    case "agent.tool_result":
    case "agent.mcp_tool_result": {
      const call = event.type === "agent.tool_result" ? event.tool_use_id : event.mcp_tool_use_id;
      const { interrupted, patch, verdict } = event.tandem ?? {};
      return {
        kind: "call.finished",
        actor: agent,
        details: {
          call,
          is_error: event.is_error ?? false,
          interrupted,
          verdict,
          changed: patch && { path: patch.path, kind: patch.kind, ...countLines(patch.hunks) },
          sha256: fingerprint(event.content),
        },
      };
    }
    case "session.status_idle":
      return event.stop_reason.type === "requires_action"
        ? undefined
        : tandem("turn.ended", { reason: event.stop_reason.type });
    case "session.status_terminated":
      return { kind: "session.archived", actor: event.tandem?.by ?? "tandem", details: {} };
    case "session.error":
      return event.error.retry_status.type === "retrying"
        ? undefined
        : tandem("turn.failed", {
            type: event.error.type,
            message: event.error.message,
            code: event.error.tandem?.code,
          });
    case "session.updated": {
      const { title, budget, metadata, agent: changed, tandem: note } = event;
      return {
        kind: "session.changed",
        actor: note?.by ?? "tandem",
        details: { title, budget, metadata, agent_sha256: changed && fingerprint(changed) },
      };
    }
    case "session.usage":
      return tandem("cost.counted", {
        usd: event.tandem?.usd ?? Number(event.usage.list_cost.amount) / 100,
        input_tokens: event.usage.input_tokens,
        output_tokens: event.usage.output_tokens,
        cache_read_input_tokens: event.usage.cache_read_input_tokens,
      });
    default:
      return tellOurs(event, agent);
  }
}

function tellOurs(event: SessionEvent, agent: string): Told | undefined {
  const tandem = (kind: AuditKind, details: Record<string, unknown>): Told => ({ kind, actor: "tandem", details });
  switch (event.type) {
    case "tandem.permission_denied":
      return { kind: "call.denied", actor: agent, details: { tool: event.name, reason: event.reason } };
    case "tandem.dropped":
      return tandem("message.dropped", { message: event.event_id, reason: event.reason });
    case "tandem.recovered":
      return tandem("session.recovered", { cause: event.cause, closed: event.closed });
    case "tandem.approval_resolved": {
      const { event_id: call, outcome, by, scope, message, edited, mode } = event;
      return { kind: "call.resolved", actor: by, details: { call, outcome, scope, message, edited, mode } };
    }
    case "tandem.checkpoint":
      return event.when === "after" && event.files_changed > 0
        ? {
            kind: "files.changed",
            actor: agent,
            details: { files: event.files_changed, checkpoint: event.checkpoint_id },
          }
        : undefined;
    case "tandem.rewound": {
      const { id: _id, type: _type, processed_at: _at, by = "unknown", ...details } = event;
      return { kind: "session.rewound", actor: by, details };
    }
    case "tandem.budget":
      return tandem("budget.reached", { gauge: event.gauge, reason: event.reason });
    case "tandem.parked":
      return tandem("quota.parked", { resets_at: event.resets_at, resumes: event.resumes });
    case "tandem.mode":
      return { kind: "mode.changed", actor: event.by, details: { mode: event.mode } };
    case "tandem.model":
      return tandem("model.changed", { model: event.model, effort: event.effort });
    case "tandem.hook":
      return tandem("hook.asked", { hook: event.hook, on: event.on, outcome: event.outcome, call: event.event_id });
    case "tandem.command":
      return tandem("command.used", { name: event.name, arguments: event.arguments, source: event.source });
    case "tandem.shell":
      return { kind: "shell.run", actor: event.by, details: { command: event.command, exit_code: event.exit_code } };
    case "tandem.push": {
      const { remote, branch, commit, pull_request: opened, bot, requester } = event;
      return tandem("branch.pushed", { remote, branch, commit, pull_request: opened?.url ?? null, bot, requester });
    }
    case "tandem.resource": {
      const { id: _id, type: _type, processed_at: _at, by = "tandem", ...details } = event;
      return { kind: "resource.changed", actor: by, details };
    }
    case "tandem.file": {
      const { id: _id, type: _type, processed_at: _at, by, ...details } = event;
      return { kind: "file.changed", actor: by, details };
    }
    default:
      return undefined;
  }
}

function countLines(hunks: readonly { lines: readonly string[] }[]): { added: number; removed: number } {
  const lines = hunks.flatMap((hunk) => hunk.lines);
  return {
    added: lines.filter((line) => line.startsWith("+")).length,
    removed: lines.filter((line) => line.startsWith("-")).length,
  };
}
