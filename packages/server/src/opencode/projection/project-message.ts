import type { Message, Part, PartOf } from "@tandem/protocol";
import { messageIdOf, partIdOf, sessionIdOf, timeOfId } from "./opencode-id.ts";
import { isOpenTool, projectPart, stepFinish, tokensOf } from "./project-part.ts";
import { PROVIDER } from "./provider-id.ts";
import { toolNameOf } from "./opencode-tools.ts";
import type { AssistantInfo, PartContent, UserInfo, WireError, WireMessage, WirePart } from "./wire-message.ts";

/** Facts of a message that are in other events. */
export interface MessageSurroundings {
  /** Tandem's id of the session, and its creation. */
  session: string;
  createdAt: number;
  folder: string;
  /** The turn of the message has ended. */
  isOver: boolean;
  /** A person interrupted the turn during this message. */
  isAborted: boolean;
  /** The user message that it answers, as an event id. */
  parent: string;
  /** The mode, and the model, when it was sent. */
  agent: string;
  model: string;
}

/** A message of ours as one of opencode's; undefined if its clients would show nothing for it. */
export function projectMessage(message: Message, around: MessageSurroundings): WireMessage | undefined {
  const id = messageIdOf(message.id);
  const sessionID = sessionIdOf(around.session, message.thread);
  const created = timeOfId(message.id, around.createdAt);
  const isFromUser = message.role === "user" || message.parts.some(({ type }) => type === "compaction");
  const contents = contentsOf(message, around, created);
  const error = isFromUser ? undefined : errorOf(message.parts, around.isAborted);
  if (contents.length === 0 && !error) return undefined;
  const parts = contents.map((content) => place(content, { id, sessionID }));
  if (isFromUser) {
    const model = { providerID: PROVIDER, modelID: around.model };
    const info: UserInfo = { id, sessionID, role: "user", time: { created }, agent: around.agent, model };
    return { info, parts };
  }
  return { info: assistantInfo(message, around, { id, sessionID, created, error }), parts };
}

interface PlacedContent {
  content: PartContent;
  position: number;
  /** The part that it comes from. */
  source: string;
}

/** The end of a request stays last, because parts may follow it. */
const LAST_POSITION = 0xffff;

function contentsOf(message: Message, around: MessageSurroundings, startedAt: number): PlacedContent[] {
  const { session } = around;
  const isOver = around.isOver || message.role === "user";
  const surroundings = { session, startedAt, isOver, threads: threadsOf(message.parts) };
  const contents = message.parts
    .flatMap((part) => projectPart(part, surroundings).map((content) => ({ content, source: part.id })))
    .map((content, position) => ({ ...content, position }));
  const step = message.parts.find((part) => part.type === "step");
  if (!step || step.state === "running") return contents;
  return [...contents, { content: stepFinish(step, reasonOf(message)), source: step.id, position: LAST_POSITION }];
}

/** A subagent's thread is created right after its call, so both have the same order. */
function threadsOf(parts: readonly Part[]): Map<string, string> {
  const calls = parts.filter((part) => part.type === "tool" && toolNameOf(part) === "task");
  const threads = parts.filter((part) => part.type === "subtask");
  return new Map(threads.flatMap(({ thread }, index) => (calls[index] ? [[calls[index].id, thread]] : [])));
}

function place(
  { content, position, source }: PlacedContent,
  { id, sessionID }: { id: string; sessionID: string },
): WirePart {
  const base = { id: partIdOf(id, position, source), sessionID, messageID: id };
  if (content.type !== "tool" || content.state.status !== "completed" || !content.state.attachments) {
    return { ...content, ...base };
  }
  const attachments = content.state.attachments.map((file, index) => ({ ...file, ...base, id: `${base.id}_${index}` }));
  return { ...content, ...base, state: { ...content.state, attachments } };
}

function assistantInfo(
  message: Message,
  around: MessageSurroundings,
  { id, sessionID, created, error }: { id: string; sessionID: string; created: number; error: WireError | undefined },
): AssistantInfo {
  const { agent, folder, isOver } = around;
  const step = message.parts.find((part) => part.type === "step");
  const isComplete = isOver || (step?.state !== "running" && !message.parts.some(isOpenTool));
  return {
    id,
    sessionID,
    role: "assistant",
    time: { created, ...(isComplete && { completed: endOf(message.parts, created) }) },
    ...(error && { error }),
    parentID: messageIdOf(around.parent),
    modelID: step?.model ?? around.model,
    providerID: PROVIDER,
    mode: agent,
    agent,
    path: { cwd: folder, root: folder },
    cost: step?.usd ?? 0,
    tokens: tokensOf(step ?? { usage: null }),
    ...(isComplete && !error && { finish: reasonOf(message) }),
  };
}

const reasonOf = ({ parts }: Message): string => (parts.some(({ type }) => type === "tool") ? "tool-calls" : "stop");

function endOf(parts: readonly Part[], created: number): number {
  const times = parts.flatMap((part) => {
    const began = Date.parse(part.at ?? "");
    if (part.type === "step") return [began + (part.duration_ms ?? 0)];
    if (part.type === "tool" && "ended_at" in part.state) return [Date.parse(part.state.ended_at)];
    return [began];
  });
  return Math.max(created, ...times.filter((time) => !Number.isNaN(time)));
}

function errorOf(parts: readonly Part[], isAborted: boolean): WireError | undefined {
  const failed = parts.find((part): part is PartOf<"error"> => part.type === "error");
  if (failed) return { name: "UnknownError", data: { message: withFix(failed.error) } };
  const stop = parts.find((part): part is PartOf<"stop"> => part.type === "stop");
  if (stop) return { name: "UnknownError", data: { message: stop.explanation ?? STOPS[stop.reason] } };
  return isAborted ? { name: "MessageAbortedError", data: { message: "Interrupted." } } : undefined;
}

const withFix = ({ message, tandem }: PartOf<"error">["error"]): string =>
  tandem?.fix === undefined ? message : `${message} ${tandem.fix}`;

const STOPS = {
  retries_exhausted: "The model did not answer, and no retry is left.",
  budget_reached: "A budget has been reached. `tandem budgets` shows and raises it.",
  refusal: "The model refused to answer.",
} as const;
