import { LiveValue } from "./live-value.ts";

/** A value that this browser keeps, the same in all of its windows. What cannot be read is as if it were not there. */
export class KeptValue<T> extends LiveValue<T> {
  readonly #key: string;

  constructor(key: string, otherwise: T) {
    super((read(key) as T | undefined) ?? otherwise);
    this.#key = key;
    addEventListener("storage", (event) => {
      if (event.key === key) super.set((read(key) as T | undefined) ?? otherwise);
    });
  }

  override set(value: T): void {
    super.set(value);
    try {
      localStorage.setItem(this.#key, JSON.stringify(value));
    } catch {
      // Full, or forbidden: it is kept for as long as the page is open.
    }
  }
}

function read(key: string): unknown {
  try {
    const text = localStorage.getItem(key);
    return text === null ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
