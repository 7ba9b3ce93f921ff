/**
 * The base of every error a user may see: a stable `code` for programs, one sentence for people (`message`), and the next step
 * (`fix`). Packages subclass it. Unknown errors are converted once, at the edge, and kept as `cause`.
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
