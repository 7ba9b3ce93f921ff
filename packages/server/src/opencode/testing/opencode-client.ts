import { setTimeout } from "node:timers/promises";
import { readFrames } from "@tandem/protocol";
import { inject } from "vitest";
import type { WireEvent } from "../projection/wire-event.ts";
import type { WireMessage } from "../projection/wire-message.ts";

const DEADLINE_MS = 60_000 * inject("slowness");
/** How often the deadline is checked. */
const LOOK_MS = 1_000;

/** A client of opencode's API without the SDK, with all events since it connected. */
export class OpencodeClient implements AsyncDisposable {
  readonly events: WireEvent[] = [];
  readonly #url: string;
  readonly #authorization: string;
  readonly #end = new AbortController();
  #news = Promise.withResolvers<void>();

  constructor(url: string, secret: string) {
    this.#url = url;
    this.#authorization = `Basic ${Buffer.from(`opencode:${secret}`).toString("base64")}`;
  }

  async connect(): Promise<this> {
    const response = await fetch(`${this.#url}/global/event`, { headers: this.#headers(), signal: this.#end.signal });
    void this.#read(response).catch(() => undefined);
    await this.until(({ type }) => type === "server.connected");
    return this;
  }

  fetch(method: string, path: string, body?: unknown): Promise<Response> {
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    return fetch(`${this.#url}${path}`, { method, headers: this.#headers(), ...content });
  }

  /** Rejects with the server's error. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await this.fetch(method, path, body);
    const text = await response.text();
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  create(body: object = {}): Promise<{ id: string }> {
    return this.call("POST", "/session", body);
  }

  prompt(session: string, text: string, more: object = {}): Promise<WireMessage> {
    return this.call("POST", `/session/${session}/message`, { parts: [{ type: "text", text }], ...more });
  }

  messages(session: string): Promise<WireMessage[]> {
    return this.call("GET", `/session/${session}/message`);
  }

  /** The first event from this position on that fits. */
  async until<T extends WireEvent>(fits: (event: WireEvent) => event is T, from?: number): Promise<T>;
  async until(fits: (event: WireEvent) => boolean, from?: number): Promise<WireEvent>;
  async until(fits: (event: WireEvent) => boolean, from = 0): Promise<WireEvent> {
    const late = AbortSignal.timeout(DEADLINE_MS);
    for (;;) {
      const found = this.events.slice(from).find(fits);
      if (found) return found;
      if (late.aborted) throw new Error(`No such event among ${this.events.map(({ type }) => type).join(", ")}.`);
      await Promise.race([this.#news.promise, setTimeout(LOOK_MS, undefined, { ref: false })]);
    }
  }

  async asked(session: string, from = 0): Promise<Extract<WireEvent, { type: "permission.asked" }>["properties"]> {
    const isAsked = (event: WireEvent): event is Extract<WireEvent, { type: "permission.asked" }> =>
      event.type === "permission.asked" && event.properties.sessionID === session;
    return (await this.until(isAsked, from)).properties;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#end.abort();
  }

  #headers(): Record<string, string> {
    return { authorization: this.#authorization, "content-type": "application/json" };
  }

  async #read(response: Response): Promise<void> {
    for await (const { data } of readFrames(response.body!)) {
      this.events.push((JSON.parse(data) as { payload: WireEvent }).payload);
      this.#news.resolve();
      this.#news = Promise.withResolvers();
    }
  }
}
