import type { MessageInfo, WireError, WirePart } from "./wire-message.ts";
import type { SessionInfo, SessionState, FileDiff } from "./session-info.ts";
import type { PermissionRequest, QuestionRequest } from "./permission-request.ts";

/** The events of opencode's `GET /event`. */
export type WireEvent =
  | Event<"server.connected" | "server.heartbeat", Record<string, never>>
  | Event<"session.created" | "session.updated" | "session.deleted", { sessionID: string; info: SessionInfo }>
  | Event<"session.status", { sessionID: string; status: SessionState }>
  | Event<"session.idle" | "session.compacted", { sessionID: string }>
  | Event<"session.diff", { sessionID: string; diff: FileDiff[] }>
  | Event<"session.error", { sessionID: string; error: WireError }>
  | Event<"message.updated", { sessionID: string; info: MessageInfo }>
  | Event<"message.removed", { sessionID: string; messageID: string }>
  | Event<"message.part.updated", { sessionID: string; part: WirePart; time: number }>
  | Event<"message.part.delta", { sessionID: string; messageID: string; partID: string; field: "text"; delta: string }>
  | Event<"message.part.removed", { sessionID: string; messageID: string; partID: string }>
  | Event<"permission.asked", PermissionRequest>
  | Event<"permission.replied", { sessionID: string; requestID: string; reply: "once" | "always" | "reject" }>
  | Event<"question.asked", QuestionRequest>
  | Event<"question.replied", { sessionID: string; requestID: string; answers: string[][] }>
  | Event<"question.rejected", { sessionID: string; requestID: string }>
  | Event<"todo.updated", { sessionID: string; todos: TodoItem[] }>;

export interface TodoItem {
  content: string;
  status: string;
  priority: string;
}

interface Event<T extends string, P> {
  type: T;
  properties: P;
}
