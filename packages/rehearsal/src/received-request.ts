import type { IncomingHttpHeaders } from "node:http";

/** A received request of any kind. */
export interface ReceivedRequest {
  readonly method: string;
  /** The requested host: from the Host header, or the proxy's CONNECT. */
  readonly host: string;
  /** With the query string. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** Parsed JSON, or the raw text. */
  readonly body: unknown;
  readonly receivedAt: Date;
  /** Source of the answer: `script entry 2 (message)`, `models`, `miss`, …; undefined until then. */
  readonly answeredBy: string | undefined;
  readonly status: number | undefined;
  /** The caller closed the connection before the answer was complete. */
  readonly closedEarly: boolean;
  /** The answer is complete. */
  readonly finished: boolean;
}

/** A model request, with the parts that tests need most. */
export interface ModelRequest extends ReceivedRequest {
  readonly dialect: DialectName;
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens: number | undefined;
  /** All system text; blocks joined by a blank line. */
  readonly system: string;
  readonly tools: readonly OfferedTool[];
  readonly toolNames: readonly string[];
  readonly toolChoice: unknown;
  readonly thinking: unknown;
  readonly messages: readonly RequestMessage[];
  /** Text of the last user message, without Claude Code's reminder blocks. */
  readonly lastUserText: string;
  /** Tool results in the last user message. */
  readonly toolResults: readonly ToolResult[];
}

export type DialectName = "anthropic" | "vertex" | "gateway";

export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
}

export interface RequestMessage {
  readonly role: string;
  readonly content: readonly RequestBlock[];
}

/** A content block, by its name on Anthropic's wire, for every dialect. */
export interface RequestBlock {
  readonly type: string;
  readonly [key: string]: unknown;
}

export interface ToolResult {
  readonly toolUseId: string;
  readonly text: string;
  readonly isError: boolean;
}

/** The parsed request of a dialect; other fields derive from it. */
export interface ModelQuestion {
  readonly model: string;
  readonly stream: boolean;
  readonly maxTokens: number | undefined;
  readonly system: string;
  readonly tools: readonly OfferedTool[];
  readonly toolChoice: unknown;
  readonly thinking: unknown;
  readonly messages: readonly RequestMessage[];
}

export function describeQuestion(dialect: DialectName, question: ModelQuestion) {
  const lastUser = question.messages.findLast((message) => message.role === "user");
  return {
    ...question,
    dialect,
    toolNames: question.tools.map((tool) => tool.name),
    lastUserText: withoutReminders(textOf(lastUser?.content ?? [])),
    toolResults: (lastUser?.content ?? []).flatMap((block) =>
      block.type === "tool_result"
        ? [
            {
              toolUseId: String(block["tool_use_id"]),
              text: textOf(block["content"]),
              isError: block["is_error"] === true,
            },
          ]
        : [],
    ),
  };
}

/** The text of a string or a list of blocks. */
export function textOf(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content
    .flatMap((block: unknown) =>
      typeof block === "object" && block !== null && "text" in block && typeof block.text === "string"
        ? [block.text]
        : [],
    )
    .join("\n\n");
}

function withoutReminders(text: string): string {
  return text.replaceAll(/<system-reminder>.*?<\/system-reminder>/gs, "").trim();
}

/** For logs and messages; without the query, which may contain secrets. */
export function summarise(request: ReceivedRequest): string {
  return `${request.method} ${request.host}${request.path.replace(/\?.*/, "")}`;
}

export function summariseModelRequest(request: ModelRequest): string {
  const prompt = request.lastUserText.replaceAll(/\s+/g, " ");
  const results = request.toolResults.length ? `, ${request.toolResults.length} tool result(s)` : "";
  const tools = request.toolNames.length ? `, tools ${request.toolNames.join(" ")}` : ", no tools";
  return `${summarise(request)} model ${request.model}${tools}${results}, last user text "${prompt.slice(0, 120)}"`;
}
