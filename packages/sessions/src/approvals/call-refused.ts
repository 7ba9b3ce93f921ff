import { RequestError } from "@tandem/protocol";

/** An allowed call may not run any more: a person dismissed it, or a rule or hook denies it for this reason. */
export class CallRefused extends RequestError {
  override readonly name = "CallRefused";
  readonly reason: string | undefined;

  constructor(reason?: string) {
    super("conflict", reason ?? "The call was dismissed before it ran.");
    this.reason = reason;
  }
}
