import type { EventOf, LoggedEvent, PermissionMode, Todo } from "@tandem/protocol";
import { pendingRequestOf, type PendingRequest } from "../../acp/questions/pending-request.ts";
import type { SessionState } from "./session-info.ts";

/** Settings of the turn that a message starts. */
export interface TurnFacts {
  mode: PermissionMode;
  model: string;
}

/** Facts of a session that its messages do not contain, folded from its log. */
export class SessionFacts {
  /** Pending approvals and questions, by call. */
  readonly pending = new Map<string, PendingRequest>();
  readonly turns = new Map<string, TurnFacts>();
  /** Turns that a person interrupted. */
  readonly aborted = new Set<string>();
  readonly threads = new Map<string, { agent: string; createdAt: number; isRunning: boolean }>();
  state: SessionState = { type: "idle" };
  todos: readonly Todo[] = [];
  /** The message that started the running turn. */
  turn: string | undefined;
  /** The last rewind, while it can be undone. */
  rewind: EventOf<"tandem.rewound"> | undefined;
  #current: TurnFacts;

  constructor(current: TurnFacts) {
    this.#current = current;
  }

  get current(): TurnFacts {
    return this.#current;
  }

  apply(logged: LoggedEvent): void {
    const { event, thread } = logged;
    const pendingRequest = pendingRequestOf(logged);
    if (pendingRequest) this.pending.set(pendingRequest.id, pendingRequest);
    if (event.type === "tandem.approval_resolved") this.pending.delete(event.event_id);
    if (event.type === "session.thread_created") {
      const createdAt = Date.parse(event.processed_at ?? "");
      this.threads.set(event.session_thread_id, { agent: event.agent_name, createdAt, isRunning: true });
    }
    if (event.type === "session.thread_status_running") this.#setRunning(event.session_thread_id, true);
    if (event.type === "session.thread_status_idle" || event.type === "session.thread_status_terminated") {
      this.#setRunning(event.session_thread_id, false);
    }
    if (thread === null) this.#applyPrimary(event);
  }

  #setRunning(thread: string, isRunning: boolean): void {
    const known = this.threads.get(thread);
    if (known) this.threads.set(thread, { ...known, isRunning });
  }

  #applyPrimary(event: LoggedEvent["event"]): void {
    switch (event.type) {
      case "user.message":
        this.rewind = undefined;
        this.turns.set(event.id, { ...this.#current, ...(event.tandem?.model && { model: event.tandem.model }) });
        if (event.tandem?.delivery !== "steer" || this.turn === undefined) this.turn = event.id;
        return;
      case "user.define_outcome":
        this.rewind = undefined;
        this.turn = event.id;
        return;
      case "user.interrupt":
        if (this.turn !== undefined) this.aborted.add(this.turn);
        return;
      case "session.status_running":
      case "session.status_rescheduled":
        this.state = { type: "busy" };
        return;
      case "tandem.retry":
        this.state = {
          type: "retry",
          attempt: event.attempt,
          message: event.reason,
          next: Date.parse(event.processed_at ?? "") + event.delay_ms,
        };
        return;
      case "tandem.parked":
        this.state = {
          type: "retry",
          attempt: event.window,
          message: event.resumes ? "Waits for the quota to reset" : "The quota is exhausted",
          next: Date.parse(event.resets_at),
        };
        return;
      case "span.model_request_start":
        if (this.state.type === "retry") this.state = { type: "busy" };
        return;
      case "session.status_idle":
        if (event.stop_reason.type === "requires_action") return;
        this.#end();
        return;
      case "session.status_terminated":
      case "session.deleted":
        this.pending.clear();
        this.#end();
        return;
      case "tandem.mode":
        this.#current = { ...this.#current, mode: event.mode };
        return;
      case "tandem.model":
        this.#current = { ...this.#current, model: event.model };
        return;
      case "tandem.todo":
        this.todos = event.todos;
        return;
      case "tandem.rewound":
        if (event.scope !== "files") this.rewind = event.undoes === undefined ? event : undefined;
        return;
      default:
    }
  }

  #end(): void {
    this.turn = undefined;
    this.state = { type: "idle" };
  }
}
