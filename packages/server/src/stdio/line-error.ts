import { RequestError, TandemError, stdio } from "@tandem/protocol";
import { errorReply } from "../http/error-reply.ts";
import type { StdioLimits } from "./stdio-limits.ts";

/** Converts an API error by its status and body. */
export function fromReply(status: number, body: unknown): stdio.LineError {
  const { error, request_id } = (typeof body === "object" && body !== null ? body : {}) as Record<string, unknown>;
  const known = stdio.lineError.safeParse({
    ...(typeof error === "object" ? error : undefined),
    status,
    ...(typeof request_id === "string" && request_id !== "" && { request_id }),
  });
  return known.success
    ? known.data
    : { type: "api_error", message: `The API answered with ${status}, and no reason.`, status };
}

/** Converts a local error to the API's format. */
export function toLineError(error: unknown): stdio.LineError {
  const { status, body } = errorReply(error, "");
  return fromReply(status, JSON.parse(body));
}

export const unreachable = (cause?: unknown): RequestError =>
  new RequestError("unavailable", "The API cannot be reached any more.", {
    fix: "Start `tandem stdio` again; a stream resumes after its last cursor.",
    cause,
  });

export const cancelled = (): stdio.LineError => ({
  type: "cancelled",
  message: "It was cancelled; what it had already done stays done.",
  status: 499,
});

export const lineTooLong = ({ lineBytes }: StdioLimits): stdio.LineError => ({
  type: "request_too_large",
  message: `The answer does not fit into a line of ${Math.floor(lineBytes / 1024)} KiB. Ask for less of it, with \`limit\`, or over HTTP.`,
  status: 413,
});

/** The only line that a host gets if startup failed. */
export function startErrorLine(error: unknown): string {
  const known = error instanceof TandemError ? { type: error.code, message: sentences(error), status: 503 } : undefined;
  return JSON.stringify({ id: null, error: known ?? toLineError(error) });
}

const sentences = ({ message, fix }: TandemError): string => (fix === undefined ? message : `${message} ${fix}`);
