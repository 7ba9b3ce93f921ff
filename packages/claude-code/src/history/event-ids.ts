import { createHash } from "node:crypto";
import type { EventId, ThreadId } from "@tandem/protocol";

/**
 * Ids of events that are made from somebody else's lines. The same line comes to the same ids, so that what is read a
 * second time is known.
 */
export class EventIds {
  readonly #conversation: string;
  #line = "";
  #count = 0;

  constructor(conversation: string) {
    this.#conversation = conversation;
  }

  /** From now on, events are of this line. */
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
