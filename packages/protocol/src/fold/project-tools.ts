import type { ToolResultContent } from "../events/content.ts";
import type { PartOf } from "./message.ts";
import type { Timeline } from "./project-timeline.ts";
import type { FilePatch } from "../events/file-patch.ts";
import type { EventOf, LoggedEvent } from "../events/session-event.ts";
import type { Interruption } from "../events/tool-event.ts";
import type { ToolCallState } from "../words.ts";

type ToolPart = PartOf<"tool">;
type UseEvent = EventOf<"agent.tool_use" | "agent.mcp_tool_use" | "agent.custom_tool_use">;

const KINDS = { "agent.tool_use": "builtin", "agent.mcp_tool_use": "mcp", "agent.custom_tool_use": "custom" } as const;

export function requestTool(timeline: Timeline, entry: LoggedEvent, event: UseEvent): void {
  const permission = permissionOf(event);
  timeline.addToAgent(entry, {
    type: "tool",
    id: event.id,
    at: event.processed_at,
    kind: KINDS[event.type],
    name: event.name,
    ...(event.type === "agent.mcp_tool_use" && { server: event.mcp_server_name }),
    // Logs written by other software may lack our note.
    ...(event.tandem && { tool_use_id: event.tandem.tool_use_id }),
    input: event.input,
    permission,
    state: stateUnder(permission, event.processed_at),
  });
}

export function answerTool(timeline: Timeline, entry: LoggedEvent, event: EventOf<"user.tool_confirmation">): void {
  const at = event.processed_at;
  const permission: ToolPart["permission"] =
    event.result === "allow"
      ? { type: "allowed", by: "person", at }
      : { type: "denied", by: "person", reason: event.deny_message ?? null, at };
  const tool = timeline.find("tool", event.tool_use_id) ?? unknownTool(event.tool_use_id, null);
  // The first answer counts; the engine drops the others.
  if (tool.permission === null || tool.permission.type === "asked") decide(timeline, entry, tool, permission);
}

export function refuseTool(timeline: Timeline, entry: LoggedEvent, event: EventOf<"tandem.permission_denied">): void {
  const tool = timeline.findByToolUse(event.tool_use_id) ?? {
    ...unknownTool(event.tool_use_id, null),
    tool_use_id: event.tool_use_id,
    name: event.name,
  };
  // A denial recorded before Claude Code's report is more precise.
  if (tool.permission?.type === "denied") return;
  const { reason, processed_at: at } = event;
  decide(timeline, entry, tool, { type: "denied", by: "claude_code", reason, at });
}

export interface ToolResult {
  id: string;
  kind: ToolPart["kind"];
  content: ToolResultContent[];
  isError: boolean;
  interrupted?: Interruption;
  patch?: FilePatch;
}

export function finishTool(timeline: Timeline, entry: LoggedEvent, result: ToolResult): void {
  const tool = timeline.find("tool", result.id) ?? unknownTool(result.id, result.kind);
  if (tool.kind === "custom" && isOver(tool)) return;
  const { patch, interrupted } = result;
  const ended = {
    started_at: startOf(tool),
    ended_at: entry.event.processed_at ?? "",
    output: result.content,
    ...(patch && { patch }),
  };
  const state: ToolPart["state"] =
    result.isError || interrupted
      ? { type: "error", ...ended, ...(interrupted && { interrupted }) }
      : { type: "completed", ...ended };
  put(timeline, entry, { ...tool, kind: tool.kind ?? result.kind, state });
  if (patch) timeline.recordPatch(patch, tool.id);
}

/** A call that a person was asked about has changed its state. Its result says more than `done` and `failed`. */
export function moveTool(timeline: Timeline, entry: LoggedEvent, event: EventOf<"tandem.tool_state">): void {
  const tool = timeline.find("tool", event.event_id);
  if (!tool) return;
  put(timeline, entry, { ...tool, call_state: event.state, state: stateIn(event.state, tool, entry) });
}

/** A language server found errors that this edit added. They come before its result. */
export function diagnoseTool(timeline: Timeline, entry: LoggedEvent, event: EventOf<"tandem.diagnostics">): void {
  const tool = timeline.find("tool", event.event_id) ?? unknownTool(event.event_id, "builtin");
  const { server, diagnostics: items, total } = event;
  put(timeline, entry, { ...tool, diagnostics: { server, items, total } });
}

function stateIn(called: ToolCallState, tool: ToolPart, entry: LoggedEvent): ToolPart["state"] {
  const at = entry.event.processed_at;
  const closed = { started_at: startOf(tool), ended_at: at ?? "", output: [] };
  switch (called) {
    case "waiting":
    case "allowed":
      // A client runs custom tools; their calls are never pending.
      return isOver(tool) || tool.kind === "custom" ? tool.state : { type: "pending" };
    case "running":
      return { type: "running", started_at: at };
    case "unknown":
      return isOver(tool) ? tool.state : { type: "error", ...closed, interrupted: "crash" };
    case "interrupted":
      return isOver(tool) ? tool.state : { type: "error", ...closed, started_at: null };
    default:
      return tool.state;
  }
}

/** The state of any call. A call that no person was asked about has only some of them. */
export function callStateOf({ call_state: told, permission, state }: ToolPart): ToolCallState {
  if (told !== undefined) return told;
  switch (state.type) {
    case "pending":
      return "waiting";
    case "running":
      return "running";
    case "completed":
      return "done";
    case "error":
      if (permission?.type === "denied") return "denied";
      return state.interrupted ? "unknown" : "failed";
  }
}

/** Closes an open call whose effect is unknown. */
export function breakOffTool(timeline: Timeline, entry: LoggedEvent, id: string): void {
  const tool = timeline.find("tool", id);
  if (!tool || isOver(tool)) return;
  finishTool(timeline, entry, { id, kind: tool.kind, content: [], isError: true, interrupted: "crash" });
}

function decide(timeline: Timeline, entry: LoggedEvent, tool: ToolPart, permission: ToolPart["permission"]): void {
  // An existing result is more precise than a later answer.
  const state = isOver(tool) ? tool.state : stateUnder(permission, entry.event.processed_at);
  put(timeline, entry, { ...tool, permission, state });
}

function put(timeline: Timeline, entry: LoggedEvent, tool: ToolPart): void {
  if (timeline.has(tool.id)) timeline.replace(tool);
  else timeline.addToAgent(entry, { ...tool, at: entry.event.processed_at });
}

function permissionOf(event: UseEvent): ToolPart["permission"] {
  if (event.type === "agent.custom_tool_use") return null;
  const at = event.processed_at;
  switch (event.evaluated_permission) {
    case "allow":
      return { type: "allowed", by: "policy", at };
    case "deny":
      return { type: "denied", by: "policy", reason: null, at };
    case "ask":
      return { type: "asked", at };
    default:
      return null;
  }
}

function stateUnder(permission: ToolPart["permission"], at: string | null): ToolPart["state"] {
  switch (permission?.type) {
    case "asked":
      return { type: "pending" };
    case "denied":
      // The call will never run; its result only repeats the reason.
      return { type: "error", started_at: null, ended_at: at ?? "", output: [] };
    default:
      return { type: "running", started_at: at };
  }
}

const isOver = ({ state }: ToolPart): boolean => state.type === "completed" || state.type === "error";
const startOf = ({ state }: ToolPart): string | null => (state.type === "pending" ? null : state.started_at);

/** A placeholder for a call before the start of the fold. It has the call's id, so that both can be merged. */
const unknownTool = (id: string, kind: ToolPart["kind"]): ToolPart => ({
  type: "tool",
  id,
  at: null,
  kind,
  name: null,
  input: null,
  permission: null,
  state: { type: "running", started_at: null },
});
