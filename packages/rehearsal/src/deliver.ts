import type { ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import type { WireDialect } from "./dialects/wire-dialect.ts";
import { composeMessage, newId } from "./dialects/compose-message.ts";
import type { ModelRequest } from "./received-request.ts";
import type { BrokenReply, MessageReply, RawReply, Reply } from "./reply.ts";
import { text } from "./reply.ts";

interface Delivery {
  readonly dialect: WireDialect;
  readonly request: ModelRequest;
  readonly response: ServerResponse;
  /** Fires when the caller closes the connection: the delivery ends early, without an error. */
  readonly signal: AbortSignal;
  /** Closes the connection from our side. */
  readonly cut: () => void;
}

/** Sends a reply. */
export async function deliver(reply: Reply, delivery: Delivery): Promise<void> {
  switch (reply.type) {
    case "message":
      await deliverMessage(reply, delivery);
      return;
    case "error": {
      const body = delivery.dialect.errorBody(reply.status, reply.errorType, reply.message);
      sendJson(delivery.response, reply.status, body, { ...requestId(), ...reply.headers });
      return;
    }
    case "raw":
      await deliverRaw(reply, delivery);
      return;
    case "stall":
    case "cut":
    case "malformed":
    case "stream_error":
      await deliverBroken(reply, delivery);
  }
}

async function deliverRaw(
  { status, headers, body, stall }: RawReply,
  { response, signal, cut }: Delivery,
): Promise<void> {
  response.writeHead(status, headers);
  if (typeof body === "string") {
    if (stall) await write(response, body);
    else response.end(body);
    return;
  }
  try {
    for await (const piece of body) {
      if (signal.aborted) return;
      response.write(piece);
    }
    response.end();
  } catch {
    cut();
  }
}

function requestId(): Record<string, string> {
  return { "request-id": newId("req") };
}

async function deliverMessage(reply: MessageReply, { dialect, request, response, signal }: Delivery): Promise<void> {
  const message = composeMessage(reply, request.model);
  const { pace, headers } = reply.options;
  const head = { ...requestId(), ...headers };
  if (pace?.firstByteMs) await pauseUnlessAborted(pace.firstByteMs, signal);
  if (signal.aborted) return;
  if (!request.stream) {
    sendJson(response, 200, dialect.json(message), head);
    return;
  }

  response.writeHead(200, { ...streamHeaders, ...head });
  const frames = dialect.frames(message);
  if (!pace?.tokenMs) {
    response.end(frames.map((frame) => frame.data).join(""));
    return;
  }
  for (const frame of frames) {
    if (frame.token) await pauseUnlessAborted(pace.tokenMs, signal);
    if (signal.aborted) return;
    response.write(frame.data);
  }
  response.end();
}

/** Sends the part before the fault, then triggers it. */
async function deliverBroken(fault: BrokenReply, { dialect, request, response, cut }: Delivery): Promise<void> {
  if (fault.afterText !== undefined) {
    const message = composeMessage(text(fault.afterText), request.model);
    if (request.stream) {
      const frames = dialect.frames(message);
      const lastToken = frames.findLastIndex((frame) => frame.token);
      response.writeHead(200, { ...streamHeaders, ...requestId() });
      await write(
        response,
        frames
          .slice(0, lastToken + 1)
          .map((frame) => frame.data)
          .join(""),
      );
    } else {
      const json = JSON.stringify(dialect.json(message));
      const part = json.slice(0, Math.ceil(json.length / 2));
      response.writeHead(200, { "content-type": "application/json", ...requestId() });
      await write(response, part);
    }
  }
  switch (fault.type) {
    case "stall":
      return;
    case "cut":
      cut();
      return;
    case "malformed":
      response.end(request.stream ? 'event: content_block_delta\ndata: {"type":"content_block_delta","ind\n\n' : "");
      return;
    case "stream_error":
      response.end(
        request.stream ? dialect.errorFrame(fault.error?.type ?? "api_error", fault.error?.message ?? "Error") : "",
      );
  }
}

const streamHeaders = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" };

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

/** Resolves when the bytes are flushed, so that a following cut cannot overtake them. */
function write(response: ServerResponse, data: string): Promise<void> {
  return new Promise((resolve) => response.write(data, () => resolve()));
}

async function pauseUnlessAborted(ms: number, signal: AbortSignal): Promise<void> {
  await pause(ms, undefined, { signal }).catch(() => undefined);
}
