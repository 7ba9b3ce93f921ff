import { useSyncExternalStore } from "react";
import { inNextFrame } from "./keys-first.ts";

/** A frame that takes longer than this is followed by a pause, so that there is time for keys and fingers. */
const LONG_FRAME_MS = 20;
const LONGEST_PAUSE_MS = 80;

/**
 * A value that changes by itself. Whoever listens hears of it once a frame at most, however often it changes; on a machine
 * for which that is too much, ten times a second or so.
 */
export class LiveValue<T> {
  #value: T;
  #make: (() => T) | undefined;
  #shown: T;
  readonly #listeners = new Set<() => void>();
  #isDue = false;
  #pause = 0;

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

  /** The value is what this makes, once somebody wants it: for what changes far more often than it is looked at. */
  setLater(make: () => T): void {
    this.#make = make;
    this.#announce();
  }

  /** Whoever listens hears of it now: for what must be known before something else is. */
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
    soon(() => this.#show(), this.#pause);
  }

  #show(): void {
    const begun = performance.now();
    this.#isDue = false;
    this.#shown = this.current;
    for (const listener of this.#listeners) listener();
    // The next task comes after the frame has been laid out and painted.
    setTimeout(() => {
      const took = performance.now() - begun;
      this.#pause = took > LONG_FRAME_MS ? Math.min(took, LONGEST_PAUSE_MS) : 0;
    });
  }
}

/** A page that nobody looks at has no frames, and must not fall behind for that. */
function soon(work: () => void, pause: number): void {
  if (document.visibilityState !== "visible") setTimeout(work, 250);
  else if (pause > 0) setTimeout(() => inNextFrame(work), pause);
  else inNextFrame(work);
}

export const useLive = <T>(value: LiveValue<T>): T => useSyncExternalStore(value.subscribe, value.shown);

/** A part of it, which is the same object for as long as it says the same: who listens hears of nothing else. */
export const useLivePart = <T, Part>(value: LiveValue<T>, part: (value: T) => Part): Part =>
  useSyncExternalStore(value.subscribe, () => part(value.shown()));
