import { setTimeout as sleep } from "node:timers/promises";
import type { History, StreamRead } from "../history.ts";
import type { ApiClient } from "./api-client.ts";

const AGAIN_MS = 200;

/** Follows the stream of a session over broken connections, and records each connection by itself. */
export class StreamFollower implements AsyncDisposable {
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;

  constructor(client: ApiClient, session: string, history: History) {
    this.#done = this.#follow(client, session, history);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #follow(client: ApiClient, session: string, history: History): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const read: StreamRead = { session, ids: [] };
      try {
        for await (const id of client.stream(session, signal)) if (read.ids.push(id) === 1) history.streams.push(read);
      } catch {
        // The connection broke.
      }
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
