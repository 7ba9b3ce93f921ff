import type { Message } from "./compose-message.ts";
import type { DialectName, ModelQuestion, ReceivedRequest } from "./received-request.ts";

/** A way to put the same question and the same reply on the wire. */
export interface Dialect {
  readonly name: DialectName;
  /** Throws if the request is not one that this API would take. */
  read(request: ReceivedRequest): ModelQuestion;
  json(message: Message): unknown;
  frames(message: Message): Frame[];
  errorBody(status: number, errorType: string, message: string): unknown;
  /** How an error looks that comes after the stream began. */
  errorFrame(errorType: string, message: string): string;
}

/** One event of a stream. */
export interface Frame {
  readonly data: string;
  /** A piece of a block, before which a slow reply waits. */
  readonly token: boolean;
}

/** Splits as a model's tokens would fall, roughly: a word with the space before it. */
export function tokensOf(text: string): string[] {
  return text.match(/\s*\S+(?:\s+$)?/g) ?? (text ? [text] : []);
}

/** Splits JSON as it is streamed: in short pieces that respect nothing. */
export function piecesOf(json: string): string[] {
  return json.match(/[\s\S]{1,12}/gu) ?? [];
}
