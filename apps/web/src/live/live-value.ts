import { useSyncExternalStore } from "react";

/** A value that changes by itself. Whoever listens hears of it once a frame at most, however often it changes. */
export class LiveValue<T> {
  #value: T;
  #shown: T;
  readonly #listeners = new Set<() => void>();
  #isDue = false;

  constructor(value: T) {
    this.#value = value;
    this.#shown = value;
  }

  get current(): T {
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    if (this.#isDue) return;
    this.#isDue = true;
    soon(() => this.#show());
  }

  change(next: (value: T) => T): void {
    this.set(next(this.#value));
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  shown = (): T => this.#shown;

  #show(): void {
    this.#isDue = false;
    this.#shown = this.#value;
    for (const listener of this.#listeners) listener();
  }
}

/** A page that nobody looks at has no frames, and must not fall behind for that. */
function soon(work: () => void): void {
  if (document.visibilityState === "visible") requestAnimationFrame(work);
  else setTimeout(work, 250);
}

export const useLive = <T>(value: LiveValue<T>): T => useSyncExternalStore(value.subscribe, value.shown);

/** A part of it, which is the same object for as long as it says the same: who listens hears of nothing else. */
export const useLivePart = <T, Part>(value: LiveValue<T>, part: (value: T) => Part): Part =>
  useSyncExternalStore(value.subscribe, () => part(value.shown()));
