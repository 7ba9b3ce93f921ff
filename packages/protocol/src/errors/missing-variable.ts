import { TandemError } from "./tandem-error.ts";

/** The configured source of a secret is an environment variable, which this process lacks. */
export class MissingVariable extends TandemError {
  readonly variable: string;

  constructor(variable: string, message: string, options: { fix?: string }) {
    super("secret_unavailable", message, options);
    this.variable = variable;
  }
}

/** The variable whose absence caused an error, if any. */
export function missingVariable(error: unknown): string | undefined {
  if (error instanceof MissingVariable) return error.variable;
  return error instanceof Error && error.cause !== undefined ? missingVariable(error.cause) : undefined;
}
