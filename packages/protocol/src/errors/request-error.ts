import { TandemError } from "./tandem-error.ts";

export type RequestErrorCode =
  | "invalid_request"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "too_large"
  | "not_supported"
  | "unavailable";

/** A rejected request, with a message for the caller. The server maps each code to an HTTP status. */
export class RequestError extends TandemError {
  declare readonly code: RequestErrorCode;
  /** A more specific code that Anthropic's clients know, such as `environment_archived`. */
  readonly detail: string | undefined;

  constructor(
    code: RequestErrorCode,
    message: string,
    options: { fix?: string; cause?: unknown; detail?: string } = {},
  ) {
    super(code, message, options);
    this.detail = options.detail;
  }
}
