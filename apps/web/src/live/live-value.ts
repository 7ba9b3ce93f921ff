import { useSyncExternalStore } from "react";
import { inNextFrame } from "./frame-scheduler.ts";

/** Less than two frames. In the frames without new text, a pressed key is painted at once. */
const LEAST_INTERVAL_MS = 25;
/** A long frame is followed by a pause of its length, so that input events get time. */
const MAX_PAUSE_MS = 80;

/** An observable value. Listeners are notified in every second frame at most; on a slow machine about ten times a second. */
export class LiveValue<T> {
  #value: T;
  #make: (() => T) | undefined;
  #shown: T;
  readonly #listeners = new Set<() => void>();
  #isDue = false;
  /** The next notification is not before this time. */
  #nextAt = 0;

  constructor(value: T) {
    this.#value = value;
    this.#shown = value;
  }

  get current(): T {
    if (this.#make) {
      this.#value = this.#make();
      this.#make = undefined;
    }
    return this.#value;
  }

  set(value: T): void {
    if (Object.is(value, this.current)) return;
    this.#value = value;
    this.#announce();
  }

  /** Computes the value on the next read: for values that change far more often than they are read. */
  setLazily(make: () => T): void {
    this.#make = make;
    this.#announce();
  }

  /** Notifies listeners now, for values that must be visible before another change. */
  flush(): void {
    this.#show();
  }

  change(next: (value: T) => T): void {
    this.set(next(this.current));
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  shown = (): T => this.#shown;

  #announce(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    soon(() => this.#show(), this.#nextAt - performance.now());
  }

  #show(): void {
    const begun = performance.now();
    this.#isDue = false;
    this.#shown = this.current;
    for (const listener of this.#listeners) listener();
    // A new task runs after layout and paint.
    setTimeout(() => {
      const took = performance.now() - begun;
      this.#nextAt = begun + Math.max(LEAST_INTERVAL_MS, took + Math.min(took, MAX_PAUSE_MS));
    });
  }
}

/** A hidden page has no animation frames and must not fall behind. */
function soon(work: () => void, pause: number): void {
  if (document.visibilityState !== "visible") setTimeout(work, 250);
  else if (pause > 0) setTimeout(() => inNextFrame(work), pause);
  else inNextFrame(work);
}

export const useLive = <T>(value: LiveValue<T>): T => useSyncExternalStore(value.subscribe, value.shown);

/**
 * Subscribes to a part of the value. It must return the same object while nothing changed, because React compares by
 * identity.
 */
export const useLivePart = <T, Part>(value: LiveValue<T>, part: (value: T) => Part): Part =>
  useSyncExternalStore(value.subscribe, () => part(value.shown()));
