import type { EventId } from "@tandem/protocol";
import type { OpenCall } from "../log/open-turn.ts";
import { undelivered, type Answer, type CallEvent, type PendingCalls } from "./pending-calls.ts";

/** The pending calls of a session's turn. They are part of the turn's state. */
export interface CallState {
  readonly calls: PendingCalls;
  apply(event: CallEvent): void;
}

/** Hands answers over to the processes that wait for them. Each call is answered once. */
export class PendingApprovals {
  readonly #state: CallState;
  readonly #asking = new Map<EventId, (answer: Answer | undefined) => void>();

  constructor(state: CallState) {
    this.#state = state;
  }

  /** Adds a call. Clients are asked only once its transcript is `saved`. */
  async enter(call: OpenCall, saved?: Promise<void>): Promise<void> {
    this.#state.apply({ type: "call.asked", call, isSaved: saved === undefined });
    await saved;
    if (saved) this.#state.apply({ type: "call.saved", id: call.use.id });
  }

  /** The confirmation of a call that a worker runs, if a person has given it. */
  confirmationOf(id: EventId): Answer | undefined {
    return this.#state.calls.calls.get(id)?.call.confirmation;
  }

  /** The answer to a call as soon as it is durable; undefined if the signal fires first. */
  async wait(id: EventId, signal: AbortSignal): Promise<Answer | undefined> {
    const known = this.#state.calls.calls.get(id);
    if (known?.status === "answered") {
      this.#state.apply({ type: "call.delivered", id });
      return known.answer;
    }
    if (signal.aborted) return undefined;
    const { promise, resolve } = Promise.withResolvers<Answer | undefined>();
    const abort = (): void => resolve(undefined);
    this.#asking.set(id, resolve);
    signal.addEventListener("abort", abort, { once: true });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", abort);
      this.#asking.delete(id);
    }
  }

  /** Accepts an answer. The returned function hands it over; call it once the answer is durable. */
  answer(call: OpenCall, answer: Answer): () => void {
    const { id } = call.use;
    this.#state.apply({ type: "call.answering", id, answer });
    return () => {
      this.#state.apply({ type: "call.answered", id });
      const resolve = this.#asking.get(id);
      if (!resolve) return;
      this.#state.apply({ type: "call.delivered", id });
      resolve(answer);
    };
  }

  /** Takes the answers that no process fetched, to pass them to a new one. */
  takeUndelivered(): { call: OpenCall; answer: Answer }[] {
    const answers = undelivered(this.#state.calls);
    for (const { call } of answers) this.#state.apply({ type: "call.delivered", id: call.use.id });
    return answers;
  }

  /** The turn has ended: processes that still wait get no answer. */
  clear(): void {
    this.#state.apply({ type: "calls.cleared" });
    for (const resolve of this.#asking.values()) resolve(undefined);
  }
}
