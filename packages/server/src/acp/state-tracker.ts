import type { LoggedEvent, SessionErrorDetail } from "@tandem/protocol";
import { TurnFailed, wireError } from "./acp-error.ts";
import type { SessionState } from "./patch.ts";

/** What a session is doing, by its events, whoever has sent the message that it is at. */
export class StateTracker {
  #now: SessionState = { state: "idle" };
  #isCancelled = false;
  #error: SessionErrorDetail | undefined;

  get now(): SessionState {
    return this.#now;
  }

  /** The state that begins with this event, if one does. */
  take({ event, thread }: LoggedEvent): SessionState | undefined {
    if (thread !== null) return undefined;
    switch (event.type) {
      case "user.message":
        if (event.tandem?.delivery === "steer") return undefined;
        this.#isCancelled = false;
        this.#error = undefined;
        return undefined;
      case "user.interrupt":
        this.#isCancelled = this.#now.state !== "idle";
        return undefined;
      case "session.error":
        if (event.error.retry_status.type !== "retrying") this.#error = event.error;
        return undefined;
      case "session.status_running":
        return (this.#now = { state: "running" });
      case "session.status_idle": {
        const { type } = event.stop_reason;
        return (this.#now = type === "requires_action" ? { state: "requires_action" } : this.#ended(type));
      }
      case "session.status_terminated":
        return (this.#now = this.#ended("end_turn"));
      default:
        return undefined;
    }
  }

  #ended(reason: string): SessionState {
    if (this.#isCancelled) return { state: "idle", stop: "cancelled" };
    const error = this.#error;
    if (error?.type === "tool_use_limit_reached_error") return { state: "idle", stop: "max_turn_requests" };
    if (error?.tandem?.code === "max_tokens") return { state: "idle", stop: "max_tokens" };
    if (error) {
      const told = wireError(new TurnFailed(error));
      return { state: "idle", stop: "error", ...(told && { error: { code: told.code, message: told.message } }) };
    }
    if (reason === "budget_reached") return { state: "idle", stop: "max_turn_requests" };
    return { state: "idle", stop: reason === "refusal" ? "refusal" : "end_turn" };
  }
}
