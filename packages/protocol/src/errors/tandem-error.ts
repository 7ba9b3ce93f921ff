/**
 * Every error a user may meet: a stable `code` for programs, one sentence for people (`message`), and what to do
 * about it (`fix`). Rooms subclass it; unknown errors become one once, at the edge, keeping their `cause`.
 */
export class TandemError extends Error {
  readonly code: string;
  readonly fix: string;

  constructor(code: string, message: string, options: { fix?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.fix = options.fix ?? "";
  }

  toJSON(): Record<string, unknown> {
    return { code: this.code, message: this.message, ...(this.fix && { fix: this.fix }) };
  }
}
