import {
  PERMISSION_MODES,
  QUESTION_TOOL,
  type Approval,
  type ApprovalAnswer,
  type ApprovalNote,
  type LoggedEvent,
  type Question,
  type Rule,
} from "@tandem/protocol";
import type { Child, Piece, ToolCallChange } from "../patch.ts";
import { MODE_NAMES } from "../session-settings.ts";
import { callView, diffsOf } from "../tool-view.ts";

// Approvals and questions as shown to a person, and the meaning of the answers.

/** A pending approval or question. */
export interface PendingRequest {
  id: string;
  kind: ApprovalNote["kind"];
  name: string;
  server?: string;
  input: Record<string, unknown>;
  why?: string;
  diff?: ApprovalNote["diff"];
  plan?: string;
  suggestion?: Rule;
  child?: Child;
}

export interface PermissionQuestion {
  call: { id: string; change: ToolCallChange };
  options: PermissionChoice[];
  child?: Child;
}

interface PermissionChoice {
  id: string;
  name: string;
  kind: "allow_once" | "allow_always" | "reject_once";
  /** The rule that "always allow" would save. */
  rule?: Rule;
}

export interface QuestionForm {
  call: string;
  message: string;
  fields: (Pick<Question, "question" | "options" | "multiSelect"> & { key: string; title: string })[];
  child?: Child;
}

/** The approval or question of a call; undefined if it needs none. */
export function pendingRequestOf({ event }: LoggedEvent, child?: Child): PendingRequest | undefined {
  const isCall = event.type === "agent.tool_use" || event.type === "agent.mcp_tool_use";
  const isQuestion = event.type === "agent.custom_tool_use" && event.name === QUESTION_TOOL;
  if (!isQuestion && !(isCall && event.evaluated_permission === "ask")) return undefined;
  const { approval, verdict } = event.tandem;
  return {
    id: event.id,
    kind: approval?.kind ?? (isQuestion ? "question" : "tool"),
    name: event.name,
    ...(event.type === "agent.mcp_tool_use" && { server: event.mcp_server_name }),
    input: event.input,
    ...(verdict && { why: verdict.why }),
    ...(approval?.diff && { diff: approval.diff }),
    ...(approval?.plan !== undefined && { plan: approval.plan }),
    ...(approval?.suggestion && { suggestion: approval.suggestion }),
    ...(child && { child }),
  };
}

/** The same for an approval that was pending before the client connected. */
export const pendingRequestOfApproval = (approval: Approval): PendingRequest => ({
  id: approval.id,
  kind: approval.kind,
  name: approval.tool,
  ...(approval.mcp_server_name !== undefined && { server: approval.mcp_server_name }),
  input: approval.input,
  ...(approval.verdict && { why: approval.verdict.why }),
  ...(approval.diff && { diff: approval.diff }),
  ...(approval.plan !== undefined && { plan: approval.plan }),
  ...(approval.suggestion && { suggestion: approval.suggestion }),
  ...(approval.session_thread_id !== null && {
    child: { thread: approval.session_thread_id, agent: approval.agent_name, call: undefined },
  }),
});

export interface PermissionSettings {
  folder: string;
  /** Modes that the session supports. */
  modes: readonly string[];
  /** Whether this client may save rules beyond the session. */
  mayKeepRules: boolean;
}

/** A tool call or a plan as a choice between possible answers. */
export function permissionQuestion(pendingRequest: PendingRequest, settings: PermissionSettings): PermissionQuestion {
  const { id, name, server, input, child } = pendingRequest;
  const view = callView({ name, input, ...(server !== undefined && { server }) }, settings.folder);
  const content: Piece[] = [
    ...(pendingRequest.plan === undefined ? [] : [{ type: "text" as const, text: pendingRequest.plan }]),
    ...(pendingRequest.diff ? diffsOf(pendingRequest.diff, settings.folder) : (view.content ?? [])),
    ...(pendingRequest.why === undefined ? [] : [{ type: "text" as const, text: pendingRequest.why }]),
  ];
  return {
    call: { id, change: { ...view, status: "pending", ...(content.length > 0 && { content }) } },
    options: pendingRequest.kind === "plan" ? planChoices(settings) : callChoices(pendingRequest, settings),
    ...(child && { child }),
  };
}

const REJECT: PermissionChoice = { id: "reject", name: "Reject", kind: "reject_once" };

function callChoices({ suggestion: rule }: PendingRequest, { mayKeepRules }: PermissionSettings): PermissionChoice[] {
  const allow: PermissionChoice = { id: "allow", name: "Allow", kind: "allow_once" };
  if (!rule) return [allow, REJECT];
  const words = rule.pattern === undefined ? rule.tool : `${rule.tool}(${rule.pattern})`;
  const kept = (id: string, name: string): PermissionChoice => ({ id, name, kind: "allow_always", rule });
  return [
    allow,
    kept("allow_session", `Allow ${words} for this session`),
    ...(mayKeepRules ? [kept("allow_always", `Always allow ${words} in this project`)] : []),
    REJECT,
  ];
}

const planChoices = ({ modes }: PermissionSettings): PermissionChoice[] => [
  ...PERMISSION_MODES.filter((mode) => mode !== "plan" && mode !== "dontAsk" && modes.includes(mode)).map((mode) => ({
    id: mode,
    name: `Begin: ${MODE_NAMES[mode].name.toLowerCase()}`,
    kind: mode === "default" ? ("allow_once" as const) : ("allow_always" as const),
  })),
  { ...REJECT, name: "Keep planning" },
];

/** Maps the chosen option to an answer. An option that was not offered denies the call. */
export function answerOf(
  pendingRequest: PendingRequest,
  question: PermissionQuestion,
  chosen: string | undefined,
): ApprovalAnswer {
  const option = question.options.find(({ id }) => id === chosen);
  const deny = (message: string): ApprovalAnswer => ({ result: "deny", scope: "once", message });
  if (chosen === undefined) return deny("The user did not answer.");
  if (!option) return deny("The answer named an option that was not offered, so that nothing was allowed.");
  if (option.kind === "reject_once") {
    return deny(pendingRequest.kind === "plan" ? "The user wants to keep planning." : "The user rejected this call.");
  }
  if (pendingRequest.kind === "plan") {
    const mode = PERMISSION_MODES.find((each) => each === option.id);
    return { result: "allow", scope: "once", ...(mode && { mode }) };
  }
  const scope = option.id === "allow_session" ? "session" : option.id === "allow_always" ? "always" : "once";
  return { result: "allow", scope };
}
