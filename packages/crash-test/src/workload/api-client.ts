import { canonicalJson, readFrames, TandemError } from "@tandem/protocol";
import { z } from "zod";
import type { SeenEvent } from "../operation-history.ts";

/** `lost`: no answer arrived, or the server could not tell; the request may have been carried out. */
export type Outcome = { type: "answered"; status: number; body: unknown } | { type: "lost"; reason: string };

export interface ApiClientSettings {
  /** Called for each request: in a fleet, another server may answer. */
  url: () => string;
  apiKey: () => string;
  timeoutMs: number;
  /** A stream without a byte for this time is dead. */
  silenceMs?: number;
  signal: AbortSignal;
}

const HEADERS = { "anthropic-version": "2023-06-01", "anthropic-beta": "managed-agents-2026-04-01" };
const page = z.looseObject({ data: z.array(z.looseObject({})), next_page: z.string().nullish() });
const stored = z.looseObject({ data: z.array(z.looseObject({ id: z.string(), type: z.string() })) });
const resource = z.looseObject({ id: z.string() });
const MAX_PAGES = 50;
/**
 * Managed Agents servers send a heartbeat at least every fifteen seconds. A stream that is silent for longer is dead: the end of
 * its connection can be lost with the link.
 */
const SILENCE_MS = 45_000;

/** Requests of one client. It never repeats a request by itself. */
export class ApiClient {
  readonly #settings: ApiClientSettings;

  constructor(settings: ApiClientSettings) {
    this.#settings = settings;
  }

  async request(method: string, path: string, body?: unknown, key?: string): Promise<Outcome> {
    const { url, timeoutMs, signal } = this.#settings;
    try {
      const response = await fetch(`${url()}${path}`, {
        method,
        headers: {
          ...this.#headers(),
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(key !== undefined && { "idempotency-key": key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      const text = await response.text();
      const { status } = response;
      if (status >= 500 || status === 429) return { type: "lost", reason: `${status} ${text.slice(0, 200)}` };
      return { type: "answered", status, body: parsed(text) };
    } catch (error) {
      return { type: "lost", reason: reasonOf(error) };
    }
  }

  /** The id of the created resource; undefined if no 2xx arrived. */
  async create(path: string, body: object): Promise<string | undefined> {
    const outcome = await this.request("POST", path, body);
    if (outcome.type === "lost") return undefined;
    if (!isSuccess(outcome.status)) throw refused(`POST ${path}`, outcome.status, outcome.body);
    return resource.parse(outcome.body).id;
  }

  /** All events of a session; undefined if the server did not answer. */
  async events(session: string): Promise<SeenEvent[] | undefined> {
    const events: SeenEvent[] = [];
    let cursor = "";
    for (let number = 0; number < MAX_PAGES; number += 1) {
      const outcome = await this.request("GET", `/v1/sessions/${session}/events?limit=1000${cursor}`);
      if (outcome.type === "lost") return undefined;
      if (outcome.status === 404) return [];
      if (!isSuccess(outcome.status)) return undefined;
      const { data, next_page: next } = page.parse(outcome.body);
      events.push(...data.map(seenEvent));
      if (!next || data.length === 0) break;
      cursor = `&page=${encodeURIComponent(next)}`;
    }
    return events;
  }

  /** Sends an event to a session, once for each key. The ids are those of a 2xx answer. */
  async send(
    session: string,
    event: object,
    key?: string,
  ): Promise<Outcome & { stored: { id: string; type: string }[] }> {
    const outcome = await this.request("POST", `/v1/sessions/${session}/events`, { events: [event] }, key);
    if (outcome.type === "lost" || !isSuccess(outcome.status)) return { ...outcome, stored: [] };
    const read = stored.safeParse(outcome.body);
    return { ...outcome, stored: read.success ? read.data.data : [] };
  }

  /** One connection of a stream, once it is open: its events and their `id` lines. `after`: the line of the last one known. */
  async stream(session: string, signal: AbortSignal, after?: string): Promise<AsyncIterable<StreamedEvent>> {
    const silence = new Silence(this.#settings.silenceMs ?? SILENCE_MS);
    const response = await fetch(`${this.#settings.url()}/v1/sessions/${session}/events/stream`, {
      headers: {
        ...this.#headers(),
        accept: "text/event-stream",
        ...(after !== undefined && { "last-event-id": after }),
      },
      signal: AbortSignal.any([signal, this.#settings.signal, silence.signal]),
    });
    if (!response.ok || !response.body) throw new Error(`The stream was refused with ${response.status}.`);
    return streamedEvents(response.body.pipeThrough(silence.watch()));
  }

  #headers(): Record<string, string> {
    return { ...HEADERS, "x-api-key": this.#settings.apiKey() };
  }
}

/** Aborts a stream that delivers nothing for a while, not even heartbeats. */
class Silence {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(ms: number) {
    this.#timer = setTimeout(() => this.#controller.abort(), ms).unref();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  watch(): TransformStream<Uint8Array, Uint8Array> {
    return new TransformStream({
      transform: (chunk, controller) => {
        this.#timer.refresh();
        controller.enqueue(chunk);
      },
    });
  }
}

interface StreamedEvent {
  id: string;
  line: string | undefined;
}

async function* streamedEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<StreamedEvent> {
  for await (const { id: line, data } of readFrames(body)) {
    const { success, data: event } = resource.safeParse(parsed(data));
    if (success) yield { id: event.id, line };
  }
}

/** The server refused a request of the workload, which no fault explains: it cannot be tested with it. */
const refused = (request: string, status: number, body: unknown): TandemError =>
  new TandemError(
    "crash_test_refused",
    `The server refused ${request} with ${status}: ${JSON.stringify(body).slice(0, 400)}`,
    {
      fix:
        status === 401 || status === 403
          ? "Give a key of the server with --api-key env:NAME or file:PATH."
          : "Leave out work that the server cannot do, with --work.",
    },
  );

export const isSuccess = (status: number): boolean => status >= 200 && status < 300;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function seenEvent(event: Record<string, unknown>): SeenEvent {
  const { id, type } = event;
  return {
    id: String(id),
    type: String(type),
    isQueued: event["processed_at"] === null,
    // The order of keys may differ between reads.
    json: canonicalJson(event),
    event,
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
