import { processWaitText, type SessionEvent } from "@tandem/protocol";
import type { Patch } from "./patch.ts";

type Notice = Extract<Patch, { type: "notice" }>;

/** The notice that a person sees beside the conversation: retries, limits, a changed model, errors. */
export function noticeOf(event: SessionEvent): Notice | undefined {
  switch (event.type) {
    case "tandem.retry": {
      const { attempt, max_attempts: most, delay_ms: delay, status, reason } = event;
      const seconds = Math.max(1, Math.round(delay / 1_000));
      const cause = status === null ? reason : `${reason} (${status})`;
      return notice("warning", `The model's API did not answer. Attempt ${attempt} of ${most} in ${seconds} s.`, cause);
    }
    case "tandem.rate_limit": {
      if (event.status === "allowed") return undefined;
      const until = event.resets_at === undefined ? "" : ` It resets at ${event.resets_at}.`;
      const isOver = event.status === "rejected";
      return notice(
        isOver ? "error" : "warning",
        isOver ? "A rate limit has been reached." : "A rate limit is close.",
        `${event.kind ?? "The limit"} is at ${percent(event.utilization)}.${until}`,
      );
    }
    case "tandem.model_fallback":
      return notice("warning", `${event.to} answers in place of ${event.from}.`, event.reason);
    case "tandem.permission_denied":
      return notice("info", `${event.name} was not allowed.`, event.reason);
    case "tandem.parked":
      return notice(
        "warning",
        `The turn waits for a quota until ${event.resets_at}.`,
        event.resumes ? "It then continues by itself." : "Send a message then to continue.",
      );
    case "tandem.process_wait":
      return notice("info", processWaitText(event));
    case "tandem.budget":
      return notice("error", "A budget has been reached.", event.reason);
    case "tandem.recovered":
      return notice("warning", "The turn was cut off.", event.cause);
    case "tandem.hook":
      if (event.outcome !== "blocked" && event.outcome !== "failed") return undefined;
      return notice("warning", `The hook ${event.hook} has ${event.outcome} on ${event.on}.`, event.message);
    case "tandem.sandbox_violation":
      return notice("warning", `Sandbox: ${event.rule}`, event.fix);
    case "tandem.notice":
      return notice(event.level, event.text);
    case "span.outcome_evaluation_end": {
      const { result, iteration, explanation } = event;
      const severity = result === "satisfied" ? "info" : result === "failed" ? "error" : "warning";
      return notice(severity, `Evaluation ${iteration + 1}: ${result.replaceAll("_", " ")}.`, explanation);
    }
    case "session.error": {
      const { message, retry_status: status, tandem } = event.error;
      return notice(status.type === "retrying" ? "warning" : "error", message, tandem?.fix);
    }
    case "tandem.model":
      return event.ignored.length === 0
        ? undefined
        : notice("info", "Part of the settings has no effect.", event.ignored.join("; "));
    default:
      return undefined;
  }
}

const notice = (severity: Notice["severity"], title: string, description?: string): Notice => ({
  type: "notice",
  severity,
  title: title || "Notice",
  ...(description && { description }),
});

const percent = (share: number | undefined): string =>
  share === undefined ? "its limit" : `${Math.round(share * 100)} %`;
