import { errorReply, type ErrorReply } from "../http/error-reply.ts";

const NAMES: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "UnauthorizedError",
  403: "ForbiddenError",
  404: "NotFoundError",
  409: "ConflictError",
  501: "NotSupportedError",
};

/** An error in the form of opencode's API. */
export function opencodeError(error: unknown, requestId: string): ErrorReply {
  const reply = errorReply(error, requestId);
  const { message } = (JSON.parse(reply.body) as { error: { message: string } }).error;
  const answer = { name: NAMES[reply.status] ?? "UnknownError", data: { message }, request_id: requestId };
  return { ...reply, body: JSON.stringify(answer) };
}
