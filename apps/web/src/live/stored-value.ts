import { LiveValue } from "./live-value.ts";

/** A value in localStorage, shared by all windows of the browser. An unreadable entry counts as missing. */
export class StoredValue<T> extends LiveValue<T> {
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
      // Storage is full or blocked: keep the value in memory.
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
