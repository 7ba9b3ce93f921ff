import type { ServerResponse } from "node:http";
import { RequestError } from "@tandem/protocol";
import type { TokenRow } from "@tandem/storage";
import type { ServerSettings } from "../settings.ts";
import { WireError } from "../wire-error.ts";
import { EventStream } from "./event-stream.ts";
import { commentFrame } from "./frame.ts";

const HEARTBEAT = Buffer.from(commentFrame("heartbeat"));
/** A client that reads nothing for this many heartbeats, although data is pending, is dead. */
const DEAD_AFTER = 4;

interface OpenStream {
  token: TokenRow;
  sent: number;
  stalled: number;
}

/** All streams of a server: limits per token, heartbeats and shutdown. */
export class OpenStreams {
  readonly #streams = new Map<EventStream, OpenStream>();
  readonly #maxPerToken: number;
  readonly #isValid: (token: TokenRow) => Promise<boolean>;
  readonly #timer: NodeJS.Timeout;
  #isClosed = false;

  constructor(
    { heartbeatMs, maxStreamsPerToken }: Pick<ServerSettings, "heartbeatMs" | "maxStreamsPerToken">,
    isValid: (token: TokenRow) => Promise<boolean>,
  ) {
    this.#maxPerToken = maxStreamsPerToken;
    this.#isValid = isValid;
    this.#timer = setInterval(() => this.#beat(), heartbeatMs).unref();
  }

  get size(): number {
    return this.#streams.size;
  }

  open(outgoing: ServerResponse, token: TokenRow): EventStream {
    if (this.#isClosed) throw new RequestError("unavailable", "The server is stopping.");
    const count = [...this.#streams.values()].filter((other) => other.token.id === token.id).length;
    if (count >= this.#maxPerToken) {
      throw new WireError("too_many", `This token has ${count} streams open, which is as many as it may.`, {
        fix: "Close some of them.",
      });
    }
    const stream = new EventStream(outgoing);
    this.#streams.set(stream, { token, sent: 0, stalled: 0 });
    stream.closed.addEventListener("abort", () => this.#streams.delete(stream), { once: true });
    if (stream.closed.aborted) this.#streams.delete(stream);
    return stream;
  }

  /** Notifies the clients of a tenant and closes their streams. */
  closeOf(tenant: string, reason: string): void {
    for (const [stream, { token }] of this.#streams) if (token.tenant === tenant) stream.end(commentFrame(reason));
  }

  /** Notifies every client and closes its stream. */
  closeAll(reason: string): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    for (const stream of this.#streams.keys()) stream.end(commentFrame(reason));
  }

  #beat(): void {
    for (const [stream, state] of this.#streams) {
      state.stalled = stream.unsent > 0 && stream.sent === state.sent ? state.stalled + 1 : 0;
      state.sent = stream.sent;
      if (state.stalled >= DEAD_AFTER) stream.destroy();
      else if (state.stalled === 0) stream.write(HEARTBEAT);
    }
    this.#endRevoked().catch(() => undefined);
  }

  /** Closes streams of revoked tokens. A database error does not prove that a token is revoked. */
  async #endRevoked(): Promise<void> {
    const tokens = new Map([...this.#streams.values()].map(({ token }) => [token.id, token]));
    for (const token of tokens.values()) {
      if (await this.#isValid(token)) continue;
      for (const [stream, state] of this.#streams) {
        if (state.token.id === token.id) stream.end(commentFrame("the token is not valid any more"));
      }
    }
  }
}
