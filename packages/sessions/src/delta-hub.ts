import type { LiveDelta, SessionId } from "@tandem/protocol";

type Listener = (deltas: readonly LiveDelta[]) => void;

/** Hands live previews to whoever listens at this moment. Nothing is kept. */
export class DeltaHub {
  readonly #listeners = new Map<SessionId, Set<Listener>>();

  listen(session: SessionId, listener: Listener): () => void {
    const listeners = this.#listeners.get(session) ?? new Set();
    this.#listeners.set(session, listeners.add(listener));
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(session) === listeners) this.#listeners.delete(session);
    };
  }

  publish(session: SessionId, deltas: readonly LiveDelta[]): void {
    for (const listener of this.#listeners.get(session) ?? []) listener(deltas);
  }
}
