import type { IncomingMessage, ServerResponse } from "node:http";

/** A failure with a sentence for the client. */
export class GatewayError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

const ERROR_TYPES: Record<number, string> = {
  400: "invalid_request_error",
  401: "authentication_error",
  403: "permission_error",
  413: "request_too_large",
  415: "invalid_request_error",
};

/** Anthropic's format, so that Claude Code shows the sentence. */
export function sendGatewayError(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  message: string,
): void {
  if (response.headersSent) return void response.destroy();
  const type = ERROR_TYPES[status] ?? "api_error";
  const body = JSON.stringify({ type: "error", error: { type, message } });
  response.writeHead(status, {
    "content-type": "application/json",
    "content-length": Buffer.byteLength(body),
    // The rest of the body is not read, so the connection cannot be used again.
    ...(!request.complete && { connection: "close" }),
    ...(status < 500 && { "x-should-retry": "false" }),
  });
  response.end(body);
}
