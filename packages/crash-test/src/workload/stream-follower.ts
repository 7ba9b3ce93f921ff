import { setTimeout as sleep } from "node:timers/promises";
import type { History, StreamRead } from "../operation-history.ts";
import type { ApiClient } from "./api-client.ts";

const AGAIN_MS = 200;
const POLL_MS = 25;

/**
 * Follows the stream of a session over broken connections, in one of two ways: it sends `Last-Event-ID`, if the server numbers
 * the frames; or it opens the stream, lists the events and skips those that it has.
 */
export class StreamFollower implements AsyncDisposable {
  readonly #stopping = new AbortController();
  readonly #done: Promise<void>;
  readonly #read: StreamRead;

  constructor(client: ApiClient, session: string, history: History, { resumes }: { resumes: boolean }) {
    this.#read = { session, ids: [], listed: [], connections: 0 };
    history.streams.push(this.#read);
    this.#done = this.#follow(client, resumes);
  }

  /** Waits for a connection, so that it hears the next turn from its beginning. */
  async opened(withinMs: number): Promise<void> {
    const deadline = Date.now() + withinMs;
    while (this.#read.connections === 0 && Date.now() < deadline) await sleep(POLL_MS);
  }

  /** Waits until an event has arrived. */
  async expect(id: string, withinMs: number, signal: AbortSignal): Promise<void> {
    const begun = Date.now();
    while (!signal.aborted && !this.#read.ids.includes(id)) {
      const waitedMs = Date.now() - begun;
      if (waitedMs > withinMs) {
        this.#read.missed = { id, waitedMs };
        return;
      }
      await sleep(POLL_MS);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#done;
  }

  async #follow(client: ApiClient, resumes: boolean): Promise<void> {
    const { signal } = this.#stopping;
    const { session, ids } = this.#read;
    let lastLine: string | undefined;
    while (!signal.aborted) {
      const connection = new AbortController();
      const after = resumes ? lastLine : undefined;
      try {
        const events = await client.stream(session, AbortSignal.any([signal, connection.signal]), after);
        const listed = after === undefined ? await this.#catchUp(client) : new Set<string>();
        this.#read.connections += 1;
        for await (const { id, line } of events) {
          lastLine = line ?? lastLine;
          // A listed event may arrive once more, because the stream was open before the list was read.
          if (!listed.delete(id)) ids.push(id);
        }
      } catch {
        // The connection broke.
      }
      connection.abort();
      await sleep(AGAIN_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Takes the events that it has missed from the list, and returns all that are there. */
  async #catchUp(client: ApiClient): Promise<Set<string>> {
    const { session, ids, listed } = this.#read;
    const events = await client.events(session);
    if (!events) throw new Error("The events could not be listed.");
    const logged = events.filter(({ isQueued }) => !isQueued).map(({ id }) => id);
    // An earlier event that it does not have is of a type that streams leave out, or the server has skipped it.
    const missed = logged.slice(logged.indexOf(ids.at(-1) ?? "") + 1);
    ids.push(...missed);
    listed.push(...missed);
    return new Set(logged);
  }
}
