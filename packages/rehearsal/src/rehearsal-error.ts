/** An error with a fix. */
export class RehearsalError extends Error {
  override readonly name = "RehearsalError";
  readonly code: "port_taken" | "script_unreadable" | "recording_unreadable" | "recording_exists" | "check_impossible";
  readonly fix: string;

  constructor(code: RehearsalError["code"], message: string, fix: string, cause?: unknown) {
    super(message, { cause });
    this.code = code;
    this.fix = fix;
  }
}
