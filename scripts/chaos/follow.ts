import type Anthropic from "@anthropic-ai/sdk";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { readFrames } from "@tandem/client";

/** Returns a client of any running server, a new one for each request. Rejects if none runs for too long. */
export type AnyServer = () => Promise<Anthropic>;

const seenEvent = z.looseObject({
  type: z.string(),
  id: z.string(),
  stop_reason: z.looseObject({ type: z.string(), event_ids: z.array(z.string()).optional() }).nullish(),
});
export type Seen = z.infer<typeof seenEvent>;

export interface Follower {
  /** In order of arrival. */
  readonly seen: readonly Seen[];
  /** How often the stream was opened. */
  readonly opened: number;
  /** Resolves with the next event, or after the timeout. */
  changed(timeoutMs: number): Promise<void>;
  stop(): Promise<void>;
}

const AGAIN_MS = 200;
/** Errors of streams that a stopping or dying server leaves half open. */
const SILENCE_MS = 40_000;

/**
 * Follows a session's stream over all servers: by frames with resume after the last id, or with the official client, which
 * reopens the stream, lists the events and skips known ones.
 */
export function follow(way: "frames" | "sdk", session: string, anyServer: AnyServer): Follower {
  const seen: Seen[] = [];
  const known = new Set<string>();
  const stopping = new AbortController();
  let changed = Promise.withResolvers<void>();
  let opened = 0;
  let lastId = "0";

  const add = (data: unknown): void => {
    const { success, data: event } = seenEvent.safeParse(data);
    // Tandem's own events are sent only on request.
    if (!success || event.type.startsWith("tandem.")) return;
    seen.push(event);
    known.add(event.id);
    changed.resolve();
    changed = Promise.withResolvers();
  };

  async function byFrames(signal: AbortSignal): Promise<void> {
    const client = await anyServer();
    const response = await fetch(`${client.baseURL}/v1/sessions/${session}/events/stream`, {
      headers: { "x-api-key": client.apiKey ?? "", "last-event-id": lastId },
      signal,
    });
    if (!response.ok || !response.body) throw new Error(`${response.status}`);
    for await (const { id, data } of readFrames(response.body)) {
      add(JSON.parse(data));
      if (id !== undefined) lastId = id;
    }
  }

  async function bySdk(signal: AbortSignal): Promise<void> {
    const { events } = (await anyServer()).beta.sessions;
    const stream = await events.stream(session, {}, { signal });
    // Events since the disconnect; later ones wait in the stream.
    for await (const event of events.list(session, { limit: 1_000 }, { signal })) {
      if (!known.has(event.id) && isLogged(event)) add(event);
    }
    for await (const event of stream) if ("id" in event && !known.has(event.id)) add(event);
  }

  const done = (async () => {
    while (!stopping.signal.aborted) {
      opened += 1;
      const signal = AbortSignal.any([stopping.signal, AbortSignal.timeout(SILENCE_MS)]);
      await (way === "frames" ? byFrames(signal) : bySdk(signal)).catch(() => undefined);
      await sleep(AGAIN_MS);
    }
  })();

  return {
    seen,
    get opened() {
      return opened;
    },
    changed: (timeoutMs) => Promise.race([changed.promise, sleep(timeoutMs, undefined, { ref: false })]),
    async stop() {
      stopping.abort();
      await done;
    },
  };
}

/** The list also contains the input queue. */
const isLogged = (event: object): boolean => !("processed_at" in event && event.processed_at === null);
