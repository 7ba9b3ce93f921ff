import { WireError } from "./wire-error.ts";

/** Files are held in memory as they come and go, so only so much of them at once. */
export class FileRoom {
  readonly #size: number;
  #taken = 0;

  constructor(size: number) {
    this.#size = size;
  }

  /** Returns how to give it back. A single file always finds room. */
  take(bytes: number): () => void {
    if (this.#taken > 0 && this.#taken + bytes > this.#size) {
      throw new WireError("too_many", "Too much is being uploaded or downloaded at once.", {
        fix: "Try again in a moment.",
      });
    }
    this.#taken += bytes;
    return () => void (this.#taken -= bytes);
  }
}
