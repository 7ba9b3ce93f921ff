import { WireError } from "../wire-error.ts";

/** Limits the bytes of files in memory: uploads and downloads are not streamed. */
export class FileMemoryLimit {
  readonly #limit: number;
  #reserved = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Returns a function that releases the bytes. A single file is always accepted. */
  reserve(bytes: number): () => void {
    if (this.#reserved > 0 && this.#reserved + bytes > this.#limit) {
      throw new WireError("too_many", "Too much is being uploaded or downloaded at once.", {
        fix: "Try again in a moment.",
      });
    }
    this.#reserved += bytes;
    return () => void (this.#reserved -= bytes);
  }
}
