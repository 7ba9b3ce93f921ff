import { questionInput, type ApprovalAnswer } from "@tandem/protocol";
import type { PendingRequest } from "../../acp/questions/pending-request.ts";
import { messageIdOf, requestIdOf, sessionIdOf } from "./opencode-id.ts";
import { patchText } from "./patch-text.ts";
import { permissionOf, toolInputOf } from "./opencode-tools.ts";

// Approvals and questions as opencode's clients show them, and the meaning of their answers.

interface ToolReference {
  messageID: string;
  callID: string;
}

export interface PermissionRequest {
  id: string;
  sessionID: string;
  permission: string;
  patterns: string[];
  metadata: Record<string, unknown>;
  always: string[];
  tool?: ToolReference;
}

export interface QuestionRequest {
  id: string;
  sessionID: string;
  questions: {
    question: string;
    header: string;
    options: { label: string; description: string }[];
    multiple?: boolean;
    custom?: boolean;
  }[];
  tool?: ToolReference;
}

/** Where a request belongs: the message with its call is null if it is not known. */
export interface RequestPlace {
  session: string;
  thread: string | null;
  message: string | null;
}

const MAX_HEADER = 30;

/** A plan is put as a question: a permission dialog would not show its text. */
export const isQuestion = ({ kind }: Pick<PendingRequest, "kind">): boolean => kind !== "tool";

export function permissionRequest(pendingRequest: PendingRequest, place: RequestPlace): PermissionRequest {
  const { id, name, server, input, diff, suggestion, why } = pendingRequest;
  const path = diff?.path ?? input["file_path"] ?? input["notebook_path"];
  const subject = path ?? input["command"] ?? input["url"] ?? input["pattern"];
  return {
    id: requestIdOf("permission", id),
    sessionID: sessionIdOf(place.session, place.thread),
    permission: permissionOf({ name, server }),
    patterns: typeof subject === "string" ? [subject] : [],
    metadata: {
      ...toolInputOf(input),
      ...(typeof path === "string" && { filepath: path }),
      ...(diff && { diff: patchText(diff) }),
      ...(why !== undefined && { why }),
    },
    always: suggestion
      ? [suggestion.pattern === undefined ? suggestion.tool : `${suggestion.tool}(${suggestion.pattern})`]
      : [],
    ...toolOf(id, place),
  };
}

export function questionRequest(pendingRequest: PendingRequest, place: RequestPlace): QuestionRequest {
  return {
    id: requestIdOf("question", pendingRequest.id),
    sessionID: sessionIdOf(place.session, place.thread),
    questions: pendingRequest.kind === "plan" ? [planQuestion(pendingRequest)] : questionsOf(pendingRequest),
    ...toolOf(pendingRequest.id, place),
  };
}

const toolOf = (call: string, { message }: RequestPlace): { tool?: ToolReference } =>
  message === null ? {} : { tool: { messageID: messageIdOf(message), callID: call } };

const questionsOf = ({ input }: PendingRequest): QuestionRequest["questions"] =>
  (questionInput.safeParse(input).data?.questions ?? []).map(({ question, header, options, multiSelect }) => ({
    question,
    header: (header ?? question).slice(0, MAX_HEADER),
    options: options.map(({ label, description }) => ({ label, description: description ?? "" })),
    multiple: multiSelect,
    custom: true,
  }));

const START = "Start";
const START_WITH_EDITS = "Start, accept edits";
const KEEP_PLANNING = "Keep planning";

const planQuestion = ({ plan }: PendingRequest): QuestionRequest["questions"][number] => ({
  question: `${plan ?? "The plan is ready."}\n\nStart with it?`,
  header: "Plan",
  options: [
    { label: START, description: "Asks before it changes files or runs commands" },
    { label: START_WITH_EDITS, description: "Changes files of the folder without asking" },
    { label: KEEP_PLANNING, description: "Stays in plan mode" },
  ],
  custom: true,
});

export type PermissionReply = "once" | "always" | "reject";

/** "Always" lasts for the session: opencode's dialog promises a grant that ends, not a stored rule. */
export function permissionAnswer(
  reply: PermissionReply,
  { hasSuggestion, message }: { hasSuggestion: boolean; message: string | undefined },
): ApprovalAnswer {
  if (reply === "reject") return { result: "deny", scope: "once", message: message ?? "The user rejected this call." };
  return { result: "allow", scope: reply === "always" && hasSuggestion ? "session" : "once" };
}

export function questionAnswer(
  pendingRequest: Pick<PendingRequest, "kind" | "input">,
  answers: readonly string[][],
): ApprovalAnswer {
  if (pendingRequest.kind === "plan") return planAnswer(answers[0] ?? []);
  const { questions } = questionInput.parse(pendingRequest.input);
  const given = questions.flatMap(({ question, multiSelect }, index) => {
    const chosen = answers[index] ?? [];
    return chosen.length === 0 ? [] : [[question, multiSelect ? chosen : chosen.join(", ")] as const];
  });
  return { result: "allow", scope: "once", input: { answers: Object.fromEntries(given) } };
}

function planAnswer(chosen: readonly string[]): ApprovalAnswer {
  if (chosen.includes(START_WITH_EDITS)) return { result: "allow", scope: "once", mode: "acceptEdits" };
  if (chosen.includes(START)) return { result: "allow", scope: "once", mode: "default" };
  const words = chosen.filter((label) => label !== KEEP_PLANNING).join("\n");
  return { result: "deny", scope: "once", message: words || "The user wants to keep planning." };
}
