import { createHash } from "node:crypto";
import type { EventId, ThreadId } from "@tandem/protocol";

/**
 * Deterministic ids for events derived from foreign transcript lines. Re-reading the same line gives the same ids, so
 * events are deduplicated.
 */
export class EventIds {
  readonly #conversation: string;
  #line = "";
  #count = 0;

  constructor(conversation: string) {
    this.#conversation = conversation;
  }

  /** Sets the line for the following events. */
  at(line: string): void {
    this.#line = line;
    this.#count = 0;
  }

  readonly next = (): EventId => {
    this.#count += 1;
    return `sevt_${digest(`${this.#conversation}/${this.#line}/${this.#count}`)}` as EventId;
  };

  readonly threadOf = (toolUseId: string): ThreadId =>
    `sthr_${digest(`${this.#conversation}/${toolUseId}`)}` as ThreadId;
}

const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 26);
