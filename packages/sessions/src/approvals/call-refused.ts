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

/** The subagent's process learns of the end from the denial of its calls. */
export const THREAD_ENDED = "A client archived the thread of this subagent. Make no more calls; end with your report.";
