// The messages of opencode's API, version 1, as its clients expect them.

export interface Tokens {
  input: number;
  output: number;
  reasoning: number;
  cache: { read: number; write: number };
}

export type WireError =
  | { name: "UnknownError"; data: { message: string } }
  | { name: "MessageAbortedError"; data: { message: string } }
  | { name: "APIError"; data: { message: string; isRetryable: boolean } };

export interface UserInfo {
  id: string;
  sessionID: string;
  role: "user";
  time: { created: number };
  agent: string;
  model: { providerID: string; modelID: string; variant?: string };
}

export interface AssistantInfo {
  id: string;
  sessionID: string;
  role: "assistant";
  time: { created: number; completed?: number };
  error?: WireError;
  parentID: string;
  modelID: string;
  providerID: string;
  mode: string;
  agent: string;
  path: { cwd: string; root: string };
  cost: number;
  tokens: Tokens;
  finish?: string;
}

export type MessageInfo = UserInfo | AssistantInfo;

interface PartBase {
  id: string;
  sessionID: string;
  messageID: string;
}

type Fields = Record<string, unknown>;

export type ToolState =
  | { status: "pending"; input: Fields; raw: string }
  | { status: "running"; input: Fields; title?: string; metadata?: Fields; time: { start: number } }
  | {
      status: "completed";
      input: Fields;
      output: string;
      title: string;
      metadata: Fields;
      time: { start: number; end: number };
      attachments?: FilePart[];
    }
  | { status: "error"; input: Fields; error: string; metadata?: Fields; time: { start: number; end: number } };

export type FilePart = PartBase & { type: "file"; mime: string; filename?: string; url: string };

export type WirePart =
  | (PartBase & { type: "text"; text: string; time?: { start: number; end?: number } })
  | (PartBase & { type: "reasoning"; text: string; metadata?: Fields; time: { start: number; end?: number } })
  | FilePart
  | (PartBase & { type: "tool"; callID: string; tool: string; state: ToolState })
  | (PartBase & { type: "step-start" })
  | (PartBase & { type: "step-finish"; reason: string; cost: number; tokens: Tokens })
  | (PartBase & { type: "patch"; hash: string; files: string[] })
  | (PartBase & {
      type: "retry";
      attempt: number;
      error: Extract<WireError, { name: "APIError" }>;
      time: { created: number };
    })
  | (PartBase & { type: "compaction"; auto: boolean });

/** A part before it has its place in a message. */
export type PartContent = WirePart extends infer P ? (P extends WirePart ? Omit<P, keyof PartBase> : never) : never;

export interface WireMessage {
  info: MessageInfo;
  parts: WirePart[];
}
