import type { ErrorBody } from "@tandem/protocol";

/** A request that the server refused, or that never reached it (`status` 0, `type` `unreachable`). */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  /** Anthropic's type of the error, such as `not_found_error`. */
  readonly type: string;
  /** Tandem's stable code, where the error has one. */
  readonly code: string | undefined;
  /** The next action for the user. It is also the end of `message`. */
  readonly fix: string | null;
  readonly requestId: string | undefined;
  /** Environment variables with secrets that the server lacks. */
  readonly missingVariables: readonly string[];

  constructor(
    status: number,
    type: string,
    message: string,
    {
      code,
      fix,
      requestId,
      missingVariables = [],
      cause,
    }: { code?: string; fix?: string; requestId?: string; missingVariables?: readonly string[]; cause?: unknown } = {},
  ) {
    super(message, { cause });
    this.status = status;
    this.type = type;
    this.code = code;
    this.fix = fix ?? null;
    this.requestId = requestId;
    this.missingVariables = missingVariables;
  }

  static async of(response: Pick<Response, "status" | "json">): Promise<ApiError> {
    const body: Fields<ErrorBody> = objectOf(await response.json().catch(() => undefined));
    const error: Fields<ErrorBody["error"]> = objectOf(body.error);
    const details: Fields<NonNullable<ErrorBody["error"]["details"]>> = objectOf(error.details);
    return new ApiError(
      response.status,
      text(error.type) ?? "unknown",
      text(error.message) ?? `The server answered with ${response.status}.`,
      {
        code: text(details.error_code),
        fix: text(error.fix),
        requestId: text(body.request_id),
        missingVariables: texts(error.missing_variables),
      },
    );
  }
}

// A proxy in between may answer with anything. No zod here: the page imports this file.
type Fields<Shape> = { [Field in keyof Shape]?: unknown };
const objectOf = (value: unknown): object => (typeof value === "object" && value !== null ? value : {});
const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);
