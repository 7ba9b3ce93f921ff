import Anthropic from "@anthropic-ai/sdk";
import { z } from "zod";
import { readFrames } from "@tandem/client";
import { Lags } from "../server/lags.ts";

const frame = z.object({ type: z.string(), processed_at: z.string().nullish() });

interface ServerAddress {
  url: string;
  token: string;
}

/** Clients that talk to one server and stream from another: whenever a session is idle, its client sends a message. */
export class FleetClients {
  turns = 0;
  /** From an event's append at its worker to its receipt from a server that is another process. To the millisecond. */
  lags = new Lags();
  /** From a message to the idle after it. */
  times = new Lags();
  readonly #streaming: ServerAddress;
  readonly #client: Anthropic;
  readonly #ending = new AbortController();
  readonly #listening: Promise<void>[] = [];
  failed: unknown;

  constructor(sending: ServerAddress, streaming: ServerAddress) {
    this.#streaming = streaming;
    this.#client = new Anthropic({ baseURL: sending.url, apiKey: sending.token, maxRetries: 0 });
  }

  /** Resolves when all of them have been answered once. */
  async begin(sessions: number): Promise<void> {
    const agent = await this.#client.beta.agents.create({ name: "bench", model: "claude-sonnet-5-5" });
    const first = Array.from({ length: sessions }, () => this.#converse(agent.id));
    await Promise.all(first);
  }

  reset(): void {
    [this.turns, this.lags, this.times] = [0, new Lags(), new Lags()];
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#listening);
  }

  async #converse(agent: string): Promise<void> {
    const session = await this.#client.beta.sessions.create({ agent, environment_id: "env_local" });
    const response = await fetch(`${this.#streaming.url}/v1/sessions/${session.id}/events/stream`, {
      headers: { "x-api-key": this.#streaming.token },
      signal: this.#ending.signal,
    });
    if (!response.ok || !response.body) throw new Error(`The stream was refused with ${response.status}.`);
    const answered = Promise.withResolvers<void>();
    let askedAt = 0;
    const ask = async (): Promise<void> => {
      askedAt = performance.now();
      const content = [{ type: "text" as const, text: "Go on." }];
      await this.#client.beta.sessions.events.send(session.id, { events: [{ type: "user.message", content }] });
    };
    const listen = async (chunks: AsyncIterable<Uint8Array>): Promise<void> => {
      for await (const { data } of readFrames(chunks)) {
        const { type, processed_at: at } = frame.parse(JSON.parse(data));
        if (at) this.lags.add((Date.now() - Date.parse(at)) * 1_000);
        if (type === "session.error") throw new Error(data);
        if (type !== "session.status_idle") continue;
        this.turns += 1;
        this.times.add((performance.now() - askedAt) * 1_000);
        answered.resolve();
        await ask();
      }
    };
    const listening = listen(response.body).catch((error: unknown) => {
      if (this.#ending.signal.aborted) return;
      this.failed ??= error;
      answered.reject(error);
    });
    this.#listening.push(listening);
    await ask();
    await answered.promise;
  }
}
