/** Replies as plain data, created by the functions below and in `fault.ts`. */
export type Reply = MessageReply | ErrorReply | BrokenReply | RawReply;

/** An assistant message, sent as JSON or as a stream, as requested. */
export interface MessageReply {
  readonly type: "message";
  readonly content: readonly ReplyBlock[];
  readonly options: ReplyOptions;
}

/** An HTTP error with the API's error body. */
export interface ErrorReply {
  readonly type: "error";
  readonly status: number;
  readonly errorType: string;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A broken answer: it stalls, the connection is cut, or the stream is malformed. */
export interface BrokenReply {
  readonly type: "stall" | "cut" | "malformed" | "stream_error";
  /** Text sent before the fault; without it nothing is sent. */
  readonly afterText?: string;
  readonly error?: { readonly type: string; readonly message: string };
}

/** Raw bytes, for replaying a recording or passing on the answer of a real model. */
export interface RawReply {
  readonly type: "raw";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Pieces are passed on as they arrive. If they break off, so does the connection. */
  readonly body: string | AsyncIterable<Uint8Array>;
  /** Keep the connection open after the last byte, as when the recording's caller closed it. */
  readonly stall?: boolean;
}

export type ReplyBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | { readonly type: "tool_use"; readonly name: string; readonly input: object; readonly id?: string };

export type StopReason =
  | "end_turn"
  | "max_tokens"
  | "stop_sequence"
  | "tool_use"
  | "pause_turn"
  | "refusal"
  | "model_context_window_exceeded";

/** Token counts by their wire names; absent ones have small fixed defaults. */
export interface ReplyUsage {
  readonly input_tokens?: number;
  readonly output_tokens?: number;
  readonly cache_read_input_tokens?: number;
  /** Defaults to the sum of `cache_creation`. */
  readonly cache_creation_input_tokens?: number;
  readonly cache_creation?: {
    readonly ephemeral_5m_input_tokens?: number;
    readonly ephemeral_1h_input_tokens?: number;
  };
  readonly server_tool_use?: { readonly web_search_requests?: number; readonly web_fetch_requests?: number };
}

export interface ReplyOptions {
  readonly usage?: ReplyUsage;
  /** Defaults to `tool_use` if the reply uses a tool, else `end_turn`. */
  readonly stopReason?: StopReason;
  readonly stopSequence?: string;
  /** The model named in the reply; default: the requested one. */
  readonly model?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly pace?: Pace;
}

export interface Pace {
  /** Delay before the response head. */
  readonly firstByteMs?: number;
  /** Delay before each piece of a streamed block. */
  readonly tokenMs?: number;
}

export function text(text: string, options: ReplyOptions = {}): MessageReply {
  return { type: "message", content: [{ type: "text", text }], options };
}

export function thinking(thinking: string, signature = "made-up-signature"): MessageReply {
  return { type: "message", content: [{ type: "thinking", thinking, signature }], options: {} };
}

export function redactedThinking(data = "made-up-redacted-data"): MessageReply {
  return { type: "message", content: [{ type: "redacted_thinking", data }], options: {} };
}

/** The id defaults to a new one on each use. */
export function toolUse(name: string, input: object = {}, options: ReplyOptions & { id?: string } = {}): MessageReply {
  const { id, ...rest } = options;
  return { type: "message", content: [{ type: "tool_use", name, input, id }], options: rest };
}

/** One message of several parts: `reply([thinking("hm"), text("I look."), toolUse("read", { path })])`. */
export function reply(parts: readonly MessageReply[], options: ReplyOptions = {}): MessageReply {
  const merged: ReplyOptions = Object.assign({}, ...parts.map((part) => part.options), options);
  return { type: "message", content: parts.flatMap((part) => part.content), options: merged };
}

/** The model declines: HTTP 200 with stop reason `refusal`. */
export function refusal(explanation = "", options: ReplyOptions = {}): MessageReply {
  return { ...text(explanation, { ...options, stopReason: "refusal" }), ...(explanation ? {} : { content: [] }) };
}

export function slowly(reply: MessageReply, pace: Pace): MessageReply {
  return { ...reply, options: { ...reply.options, pace } };
}

export function raw(status: number, headers: Readonly<Record<string, string>>, body: RawReply["body"]): RawReply {
  return { type: "raw", status, headers, body };
}
