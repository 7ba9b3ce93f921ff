import type { CallState } from "../approvals/pending-approvals.ts";
import type { PendingCalls } from "../approvals/pending-calls.ts";
import { NO_TURN, transition, turnOf, type Turn, type TurnEvent, type TurnState } from "./turn-state.ts";

/** Holds the one state value of a session's turns. All parts of the runner read it here and change it by events. */
export class TurnMachine implements CallState {
  #state: TurnState = NO_TURN;

  get state(): TurnState {
    return this.#state;
  }

  get turn(): Turn | undefined {
    return turnOf(this.#state);
  }

  get calls(): PendingCalls {
    return this.#state.calls;
  }

  /** Whether a turn is still open after an asynchronous step. */
  isOpen(id: number): boolean {
    return this.turn?.id === id && this.#state.type !== "ending";
  }

  apply(event: TurnEvent): void {
    this.#state = transition(this.#state, event);
  }
}
