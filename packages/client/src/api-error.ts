/** A request that the server refused, or that never reached it (`status` 0, `type` `unreachable`). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Anthropic's type of the error, such as `not_found_error`. */
  readonly type: string;
  /** Tandem's stable code, where the error has one. */
  readonly code: string | undefined;
  readonly requestId: string | undefined;

  constructor(
    status: number,
    type: string,
    message: string,
    { code, requestId, cause }: { code?: string; requestId?: string; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.type = type;
    this.code = code;
    this.requestId = requestId;
  }

  static async of(response: Response): Promise<ApiError> {
    const body: unknown = await response.json().catch(() => undefined);
    const error = isRecord(body) && isRecord(body["error"]) ? body["error"] : {};
    const details = isRecord(error["details"]) ? error["details"] : {};
    const code = text(details["error_code"]);
    const requestId = isRecord(body) ? text(body["request_id"]) : undefined;
    return new ApiError(
      response.status,
      text(error["type"]) ?? "unknown",
      text(error["message"]) ?? `The server answered with ${response.status}.`,
      { ...(code !== undefined && { code }), ...(requestId !== undefined && { requestId }) },
    );
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
