import { TandemError } from "./tandem-error.ts";

export type RequestErrorCode =
  | "invalid_request"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "too_large"
  | "not_supported"
  | "unavailable";

/** A request that cannot be honoured, in words for whoever made it. The server gives each code its HTTP status. */
export class RequestError extends TandemError {
  declare readonly code: RequestErrorCode;
  /** A finer code that Anthropic's clients know, such as `environment_archived`. */
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
