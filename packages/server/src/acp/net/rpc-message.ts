import type { AnyMessage } from "@agentclientprotocol/sdk";
import { z } from "zod";

// Reads only what routing needs from a JSON-RPC message. The agent validates the rest.

/** Bounds memory: ids are kept until they are answered. */
const MAX_ID_LENGTH = 1_024;

const id = z.union([z.string().max(MAX_ID_LENGTH), z.number()]);
const version = z.literal("2.0");
const messageSchema = z.union([
  z.looseObject({ jsonrpc: version, method: z.string().max(MAX_ID_LENGTH), id }),
  z.looseObject({ jsonrpc: version, method: z.string().max(MAX_ID_LENGTH), id: z.undefined().optional() }),
  z.looseObject({ jsonrpc: version, method: z.undefined().optional(), id: id.nullable() }),
]);

export type MessageKind =
  | { type: "request"; key: string; method: string; session: string | undefined }
  | { type: "notification"; method: string; session: string | undefined }
  | { type: "response"; key: string | undefined; session: string | undefined };

const named = z.looseObject({ sessionId: z.string().min(1).max(MAX_ID_LENGTH) });

/** The session that a request or notification is about, or that a response names. */
export function kindOf(message: AnyMessage): MessageKind {
  if (!("method" in message)) {
    const key = message.id === null ? undefined : keyOf(message.id);
    return { type: "response", key, session: sessionIn("result" in message ? message.result : undefined) };
  }
  const session = sessionIn(message.params);
  const { method } = message;
  if (!("id" in message) || message.id === null) return { type: "notification", method, session };
  return { type: "request", key: keyOf(message.id), method, session };
}

/** Undefined for an invalid JSON-RPC message. */
export function readMessage(value: unknown): AnyMessage | undefined {
  // The schema covers the type except for the contents of `params`, `result` and `error`.
  return messageSchema.safeParse(value).success ? (value as AnyMessage) : undefined;
}

export const rpcError = (error: { code: number; message: string }, to: string | number | null = null): AnyMessage => ({
  jsonrpc: "2.0",
  id: to,
  error,
});

/** `1` and `"1"` are different ids. */
const keyOf = (value: string | number): string => `${typeof value}:${value}`;

const sessionIn = (value: unknown): string | undefined => named.safeParse(value).data?.sessionId;
