import { text, type ModelRequest, type Reply } from "@tandem/rehearsal";

const NAME = /takeover-\d+-\d+/g;

/** The model of sessions that are taken over: the first request of each waits, and the next one is answered at once. */
export class TakeoverModel {
  /** When each session's requests arrived. */
  readonly asked = new Map<string, number[]>();
  #held = Promise.withResolvers<void>();

  /** Side requests, such as for a title, have no tools. */
  concerns(request: ModelRequest): boolean {
    return request.tools.length > 0 && nameIn(request) !== undefined;
  }

  async answer(request: ModelRequest): Promise<Reply> {
    const name = nameIn(request) ?? "";
    const times = [...(this.asked.get(name) ?? []), Date.now()];
    this.asked.set(name, times);
    if (times.length === 1) await this.#held.promise;
    return text("One word follows another.");
  }

  /** Answers the requests that wait. */
  release(): void {
    this.#held.resolve();
    this.#held = Promise.withResolvers();
  }
}

const nameIn = ({ messages }: ModelRequest): string | undefined => JSON.stringify(messages).match(NAME)?.at(-1);
