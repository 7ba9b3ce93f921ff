import { setTimeout as sleep } from "node:timers/promises";
import type { History, StreamRead } from "../operation-history.ts";
import type { ApiClient } from "./api-client.ts";

const AGAIN_MS = 200;
const POLL_MS = 25;

/** Follows the stream of a session over broken connections, and records each connection by itself. */
export class StreamFollower implements AsyncDisposable {
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  readonly #session: string;
  readonly #history: History;
  #open: { read: StreamRead; since: number } | undefined;

  constructor(client: ApiClient, session: string, history: History) {
    this.#session = session;
    this.#history = history;
    this.#done = this.#follow(client);
  }

  /** Waits for a connection, so that it hears the next turn from its beginning. */
  async opened(withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (!this.#open && Date.now() < deadline) await sleep(POLL_MS);
  }

  /** Waits until the open connection has delivered an event. A connection that was opened later need not deliver it. */
  async expect({ id, after }: { id: string; after: number }, withinMs: number, signal: AbortSignal): Promise<void> {
    const begun = Date.now();
    const expected = this.#open;
    if (!expected || expected.since > after) return;
    const { read } = expected;
    while (!signal.aborted && this.#open === expected && !read.ids.includes(id)) {
      const waitedMs = Date.now() - begun;
      if (waitedMs > withinMs) {
        read.missed = { id, waitedMs };
        if (read.ids.length === 0) this.#history.streams.push(read);
        return;
      }
      await sleep(POLL_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #follow(client: ApiClient): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const read: StreamRead = { session: this.#session, ids: [] };
      const onOpen = (): void => void (this.#open = { read, since: Date.now() });
      try {
        for await (const id of client.stream(this.#session, signal, onOpen)) {
          if (read.ids.push(id) === 1) this.#history.streams.push(read);
        }
      } catch {
        // The connection broke.
      }
      this.#open = undefined;
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }
}
