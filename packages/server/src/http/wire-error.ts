import { TandemError } from "@tandem/protocol";

/** Errors that exist only in HTTP; the engine throws `RequestError`. */
const REFUSALS = {
  unauthorized: { status: 401, type: "authentication_error" },
  method_not_allowed: { status: 405, type: "invalid_request_error" },
  repeated: { status: 409, type: "conflict_error" },
  unsupported_media_type: { status: 415, type: "invalid_request_error" },
  too_many: { status: 429, type: "rate_limit_error" },
  timeout: { status: 504, type: "timeout_error" },
} as const;

export class WireError extends TandemError {
  readonly status: number;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: keyof typeof REFUSALS,
    message: string,
    options: { fix?: string; headers?: Record<string, string> } = {},
  ) {
    super(code, message, options);
    this.status = REFUSALS[code].status;
    this.type = REFUSALS[code].type;
    this.headers = options.headers ?? {};
  }
}
