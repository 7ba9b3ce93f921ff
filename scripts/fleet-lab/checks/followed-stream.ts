import type Anthropic from "@anthropic-ai/sdk";
import { setTimeout as sleep } from "node:timers/promises";
import { readFrames } from "@tandem/client";
import { type CheckContext, eventsOf, expectThat, headersOf, until, urlOf } from "./lab-check.ts";

const AGAIN_MS = 100;
const LAST_MS = 20_000;
/** A stream leaves out the events that only Tandem has, unless it is asked for them. */
const DELIVERED = /^(agent\.(message|.*tool)|session\.status_)/;

/** A client that follows a session's stream behind HAProxy, and reconnects with `Last-Event-ID`. */
export class FollowedStream implements AsyncDisposable {
  /** The events, in the order of their arrival. */
  readonly ids: string[] = [];
  /** When each connection was opened. */
  readonly opens: number[] = [];
  readonly #session: string;
  readonly #ending = new AbortController();
  readonly #following: Promise<void>;

  constructor(context: CheckContext, session: string) {
    this.#session = session;
    this.#following = this.#follow(context);
  }

  async opened(): Promise<void> {
    await until("The stream", async () => this.opens.length > 0 || undefined);
  }

  /** Resolves when the stream has delivered the last event of the log that it delivers at all. */
  async hasLastOf(log: readonly { id: string; type: string }[], withinMs?: number): Promise<void> {
    const last = log.findLast(({ type }) => DELIVERED.test(type));
    await until("The last event on the stream", async () => this.ids.includes(last?.id ?? "") || undefined, withinMs);
  }

  /** The stream has delivered the log without gap or repeat. */
  async expectWholeLog(client: Anthropic): Promise<void> {
    const log = await eventsOf(client, this.#session);
    await this.hasLastOf(log, LAST_MS);
    const places = this.ids.map((id) => log.findIndex((event) => event.id === id));
    const isInOrder = places.every((place, index) => index === 0 || place > places[index - 1]!);
    expectThat(isInOrder, "The stream repeated or swapped events.");
    const skipped = log.slice(places[0]).filter(({ id, type }) => DELIVERED.test(type) && !this.ids.includes(id));
    expectThat(skipped.length === 0, `The stream skipped ${skipped.map(({ id, type }) => `${type} ${id}`).join(", ")}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#ending.abort();
    await this.#following;
  }

  async #follow(context: CheckContext): Promise<void> {
    const { signal } = this.#ending;
    let after: string | undefined;
    while (!signal.aborted) {
      try {
        const response = await fetch(`${urlOf("haproxy")}/v1/sessions/${this.#session}/events/stream`, {
          headers: { ...headersOf(context), ...(after !== undefined && { "last-event-id": after }) },
          signal,
        });
        if (!response.ok || !response.body) throw new Error(`The stream was refused with ${response.status}.`);
        this.opens.push(Date.now());
        for await (const { id, data } of readFrames(response.body)) {
          if (id === undefined) continue;
          after = id;
          this.ids.push((JSON.parse(data) as { id: string }).id);
        }
      } catch {
        // The connection broke, or there is no server at the moment.
      }
      await sleep(AGAIN_MS);
    }
  }
}
