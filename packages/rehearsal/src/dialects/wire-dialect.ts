import type { Message } from "./compose-message.ts";
import type { DialectName, ModelQuestion, ReceivedRequest } from "../received-request.ts";

/** A wire format for model requests and replies. */
export interface WireDialect {
  readonly name: DialectName;
  /** Throws if this API would reject the request. */
  read(request: ReceivedRequest): ModelQuestion;
  json(message: Message): unknown;
  frames(message: Message): StreamFrame[];
  errorBody(status: number, errorType: string, message: string): unknown;
  /** An error event within a running stream. */
  errorFrame(errorType: string, message: string): string;
}

/** One event of a stream. */
export interface StreamFrame {
  readonly data: string;
  /** A delta of a block; a slow reply waits before it. */
  readonly token: boolean;
}

/** Splits text roughly like a model's tokens: a word with its leading space. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S+(?:\s+$)?/g) ?? (text ? [text] : []);
}

/** Splits JSON into short pieces at arbitrary positions, as in a stream. */
export function piecesOf(json: string): string[] {
  return json.match(/[\s\S]{1,12}/gu) ?? [];
}
