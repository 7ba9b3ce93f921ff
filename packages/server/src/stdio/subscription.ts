import { readFrames, type stdio } from "@tandem/protocol";
import type { IncomingMessage } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { readRefusal } from "./answer.ts";
import { cancelled, lineTooLong, toLineError, unreachable } from "./line-error.ts";
import type { StdioLimits } from "./stdio-limits.ts";
import type { LineWriter } from "./line-writer.ts";
import type { Wire, WireRequest } from "./wire.ts";

/** A broken stream is resumed, at most this many times in a row without a frame, with backoff. */
const TRIES = 5;
const FIRST_WAIT_MS = 200;

/** The event by which the API tells a slow listener to reconnect. */
const RESYNC = "tandem.resync";

interface SubscriptionDependencies {
  wire: Wire;
  writer: LineWriter;
  limits: StdioLimits;
  signal: AbortSignal;
  request: Omit<WireRequest, "signal">;
  resumable: boolean;
}

/**
 * One stream of the API, as lines. It reads a frame only after the previous line was accepted, so a host that does not
 * read pauses the stream. If the API disconnects it for that, the stream resumes after the host's last event.
 */
export class Subscription {
  readonly #id: stdio.RequestId;
  readonly #dependencies: SubscriptionDependencies;
  #cursor: string | undefined;

  constructor(id: stdio.RequestId, dependencies: SubscriptionDependencies) {
    this.#id = id;
    this.#dependencies = dependencies;
    this.#cursor = dependencies.request.headers["last-event-id"];
  }

  /** Resolves when the stream has ended and the host has been told. */
  async run(): Promise<void> {
    const { writer, signal } = this.#dependencies;
    const id = this.#id;
    let answer: IncomingMessage;
    try {
      answer = await this.#open();
    } catch (error) {
      return writer.write(
        JSON.stringify({ id, error: signal.aborted ? cancelled() : toLineError(unreachable(error)) }),
      );
    }
    if (answer.statusCode !== 200) return writer.write(JSON.stringify({ id, error: await readRefusal(answer) }));
    await writer.write(JSON.stringify({ id, result: { stream: id } }));
    const error = await this.#follow(answer);
    const end = { ...(this.#cursor !== undefined && { cursor: this.#cursor }), ...(error && { error }) };
    // Sent even after a cancellation: no line of the stream follows this one.
    await writer.write(JSON.stringify({ stream: id, end }));
  }

  #open(): Promise<IncomingMessage> {
    const { wire, signal, request } = this.#dependencies;
    const { "last-event-id": _, ...headers } = request.headers;
    return wire.send({
      ...request,
      headers: { ...headers, ...(this.#cursor !== undefined && { "last-event-id": this.#cursor }) },
      signal,
    });
  }

  /** Returns the error that broke the stream, if any. */
  async #follow(first: IncomingMessage): Promise<stdio.LineError | undefined> {
    const { signal } = this.#dependencies;
    let answer: IncomingMessage | undefined = first;
    for (let tries = 0; !signal.aborted; tries += 1) {
      try {
        answer ??= await this.#open();
        if (answer.statusCode !== 200) return await readRefusal(answer);
        const outcome = await this.#copy(answer, () => (tries = 0));
        if (outcome.type === "ended") return outcome.error;
      } catch {
        if (signal.aborted) return undefined;
        // Without a cursor, events could be missed; a stream that starts with a snapshot misses nothing.
        const canResume = !this.#dependencies.resumable || this.#cursor !== undefined;
        if (!canResume || tries >= TRIES) return toLineError(unreachable());
        await sleep(FIRST_WAIT_MS * 2 ** tries, undefined, { signal }).catch(() => undefined);
      }
      answer = undefined;
    }
    return undefined;
  }

  async #copy(
    answer: IncomingMessage,
    onFrame: () => void,
  ): Promise<{ type: "ended"; error?: stdio.LineError } | { type: "behind" }> {
    const { writer, limits } = this.#dependencies;
    for await (const { name, id, data } of readFrames(answer, { maxLength: limits.lineBytes })) {
      onFrame();
      if (name === RESYNC && this.#dependencies.resumable) {
        this.#cursor = (JSON.parse(data) as { last_event_id: string }).last_event_id;
        return { type: "behind" };
      }
      const cursor = id === undefined ? "" : `"cursor":${JSON.stringify(id)},`;
      const line = `{"stream":${JSON.stringify(this.#id)},${cursor}"event":${data}}`;
      if (Buffer.byteLength(line) > limits.lineBytes) return { type: "ended", error: lineTooLong(limits) };
      await writer.write(line);
      if (id !== undefined) this.#cursor = id;
    }
    return { type: "ended" };
  }
}
