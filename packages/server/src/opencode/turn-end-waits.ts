import { RequestError, type LoggedEvent } from "@tandem/protocol";

interface TurnWait {
  hasBegun: boolean;
  done: PromiseWithResolvers<void>;
}

/** Requests that wait for the end of the turn that their message starts. */
export class TurnEndWaits {
  readonly #waits = new Map<string, TurnWait>();

  get isEmpty(): boolean {
    return this.#waits.size === 0;
  }

  add(message: string): Promise<void> {
    const wait = this.#waits.get(message) ?? { hasBegun: false, done: Promise.withResolvers<void>() };
    this.#waits.set(message, wait);
    return wait.done.promise;
  }

  forget(message: string): void {
    this.#waits.delete(message);
  }

  apply({ event, thread }: LoggedEvent): void {
    if (thread !== null || this.isEmpty) return;
    switch (event.type) {
      case "user.message": {
        const wait = this.#waits.get(event.id);
        if (wait) wait.hasBegun = true;
        return;
      }
      case "tandem.dropped":
        return this.#end(event.event_id, `The message was not put to the agent: ${event.reason}.`);
      case "session.status_idle":
        if (event.stop_reason.type === "requires_action") return;
        for (const [id, { hasBegun }] of this.#waits) {
          if (hasBegun) this.#end(id);
          else if (event.stop_reason.type === "budget_reached") this.#end(id, "A budget has been reached.");
        }
        return;
      case "session.status_terminated":
      case "session.deleted":
        return this.fail(new RequestError("conflict", "The session was ended by another client."));
      default:
    }
  }

  fail(error: unknown): void {
    for (const { done } of this.#waits.values()) done.reject(error);
    this.#waits.clear();
  }

  #end(id: string, problem?: string): void {
    const wait = this.#waits.get(id);
    this.#waits.delete(id);
    if (problem === undefined) wait?.done.resolve();
    else wait?.done.reject(new RequestError("conflict", problem));
  }
}
