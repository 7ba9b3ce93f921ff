import { LlmError } from "@tandem/protocol";

/** Rejects answers without one vector per text, or with different lengths. Not retried: it would not help. */
export class VectorCheck {
  #length: number | undefined;

  check(vectors: readonly Float32Array[], texts: number): void {
    if (vectors.length !== texts) throw wrong(`${vectors.length} vectors for ${texts} texts`);
    for (const vector of vectors) {
      if (vector.length === 0) throw wrong("an empty vector");
      this.#length ??= vector.length;
      if (vector.length !== this.#length) throw wrong(`vectors of ${this.#length} and of ${vector.length} numbers`);
      if (!vector.every(Number.isFinite)) throw wrong("a vector with something that is no number");
    }
  }
}

const wrong = (what: string): LlmError =>
  new LlmError("server_error", `The embedding model gave ${what}.`, {
    final: true,
    fix: "Check that embeddings.model in tandem.yaml is one that makes embeddings.",
  });

/** Services treat empty texts differently, so they are rejected here. */
export function refuseEmpty(texts: readonly string[]): void {
  const index = texts.findIndex((text) => text.trim() === "");
  if (index < 0) return;
  throw new LlmError("invalid_request", `Text ${index + 1} of ${texts.length} to embed is empty.`, {
    fix: "Leave it out.",
  });
}
