import type { EventId } from "@tandem/protocol";
import { announcement, callStatus } from "../approvals/pending-calls.ts";
import type { Placed } from "../log/open-turn.ts";
import type { BackgroundTasks } from "./background-tasks.ts";
import type { TurnDependencies } from "./turn-dependencies.ts";
import type { TurnMachine } from "./turn-machine.ts";
import { acceptsMessage, isWaiting } from "./turn-state.ts";

type StatusDependencies = Pick<TurnDependencies, "writer" | "settings" | "onBegin" | "onWaiting">;

/** Logs whether the session runs or waits for a person, each change once. */
export class TurnStatus {
  readonly #dependencies: StatusDependencies;
  readonly #machine: TurnMachine;
  readonly #tasks: BackgroundTasks;

  constructor(dependencies: StatusDependencies, machine: TurnMachine, tasks: BackgroundTasks) {
    this.#dependencies = dependencies;
    this.#machine = machine;
    this.#tasks = tasks;
  }

  /** The event that says that the session runs, unless the log ends with that status. */
  running(): Placed[] {
    if (this.#dependencies.writer.row.status === "running") return [];
    this.#machine.apply({ type: "calls.announced", ids: [] });
    return [{ thread: null, body: { type: "session.status_running" } }];
  }

  /** Claude works: in the open turn, or in a new one. Returns the events that say so. */
  working(message?: EventId): Placed[] {
    const { onBegin, settings } = this.#dependencies;
    onBegin();
    this.#tasks.unsettle();
    this.#machine.apply({ type: "working", at: settings.clock.now(), ...(message && { message }) });
    return this.running();
  }

  /** Claude may continue by itself when a background task completes. */
  onModelRequest(): void {
    if (!acceptsMessage(this.#machine.state)) return;
    const running = this.working();
    if (running.length > 0) void this.#dependencies.writer.place(running, { status: "running" });
  }

  /** Logs which calls wait, once the model has no request in flight. Need not be awaited. */
  announce(): Promise<void> {
    const { state } = this.#machine;
    const next = state.type !== "idle" && state.requests === 0 ? announcement(state.calls) : undefined;
    if (!next) return Promise.resolve();
    this.#machine.apply({ type: "calls.announced", ids: next.ids });
    if (isWaiting(state)) this.#dependencies.onWaiting();
    return this.#dependencies.writer.write([next.event], callStatus(state.calls));
  }
}
