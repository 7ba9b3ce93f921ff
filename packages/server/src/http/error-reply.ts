import {
  HeartbeatPreconditionFailed,
  LlmError,
  MemoryPathConflict,
  MemoryPreconditionFailed,
  missingVariable,
  RequestError,
  TandemError,
  type ErrorBody,
  type RequestErrorCode,
} from "@tandem/protocol";
import { LeaseLost } from "@tandem/storage";
import { redact } from "./redact.ts";
import { WireError } from "./wire-error.ts";

export interface ErrorReply {
  status: number;
  headers: Record<string, string>;
  body: string;
  /** An internal error: its cause goes to the log, not to the client. */
  unexpected: boolean;
}

export const STATUS: Readonly<Record<RequestErrorCode, { status: number; type: string }>> = {
  invalid_request: { status: 400, type: "invalid_request_error" },
  forbidden: { status: 403, type: "permission_error" },
  not_found: { status: 404, type: "not_found_error" },
  conflict: { status: 409, type: "conflict_error" },
  too_large: { status: 413, type: "request_too_large" },
  not_supported: { status: 501, type: "invalid_request_error" },
  unavailable: { status: 503, type: "api_error" },
};

/** Error codes of databases and files of the context, which carry their own messages. */
const OF_THE_CONTEXT: ReadonlyMap<string, RequestErrorCode> = new Map([
  ["query_refused", "invalid_request"],
  ["query_failed", "invalid_request"],
  ["not_there", "not_found"],
  ["query_timeout", "unavailable"],
  ["connection_failed", "unavailable"],
  ["connection_refused", "unavailable"],
  ["secret_unavailable", "unavailable"],
  ["bad_file", "conflict"],
]);

/** The official clients retry 409 and 501 by default, which would only repeat the refusal. */
const isFinal = (status: number): boolean =>
  (status >= 400 && status < 500 && status !== 408 && status !== 429) || status === 501;

interface Refusal {
  status: number;
  type: string;
  message: string;
  detail?: string;
  headers?: Readonly<Record<string, string>>;
  /** Machine-readable details beside the message. */
  fields?: Readonly<Record<string, unknown>>;
}

/** Renders an error in Anthropic's format. */
export function errorReply(error: unknown, requestId: string): ErrorReply {
  const known = refusalOf(error);
  const { status, type, message, detail, headers, fields } = known ?? {
    status: 500,
    type: "api_error",
    message: "Something went wrong inside the server. Its log has more under this request's id.",
  };
  const fix = known && error instanceof TandemError ? redact(error.fix) : "";
  const variable = known && missingVariable(error);
  return {
    status,
    headers: {
      "content-type": "application/json",
      ...(isFinal(status) && { "x-should-retry": "false" }),
      ...headers,
    },
    body: JSON.stringify({
      type: "error",
      error: {
        type,
        message: redact(message),
        ...(fix && { fix }),
        ...fields,
        ...(variable !== undefined && { missing_variables: [variable] }),
        ...(detail && { details: { error_code: detail } }),
      },
      request_id: requestId,
    } satisfies ErrorBody),
    unexpected: known === undefined,
  };
}

function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof RequestError) {
    return { ...STATUS[error.code], message: sentences(error), detail: error.detail };
  }
  if (error instanceof WireError) {
    return { status: error.status, type: error.type, message: sentences(error), headers: error.headers };
  }
  if (error instanceof LeaseLost) return { ...STATUS.conflict, message: sentences(error) };
  if (error instanceof LlmError) return { ...STATUS.unavailable, message: sentences(error) };
  if (error instanceof MemoryPreconditionFailed) {
    return { status: 409, type: "memory_precondition_failed_error", message: sentences(error) };
  }
  if (error instanceof HeartbeatPreconditionFailed) {
    const details = { error_code: error.code, current_state: error.lease };
    return { status: 412, type: "invalid_request_error", message: sentences(error), fields: { details } };
  }
  if (error instanceof MemoryPathConflict) {
    const fields = { conflicting_memory_id: error.other.id, conflicting_path: error.other.path };
    return { status: 409, type: "memory_path_conflict_error", message: sentences(error), fields };
  }
  const code = error instanceof TandemError ? OF_THE_CONTEXT.get(error.code) : undefined;
  return code && { ...STATUS[code], message: sentences(error as TandemError) };
}

const sentences = ({ message, fix }: { message: string; fix: string }): string => (fix ? `${message} ${fix}` : message);
