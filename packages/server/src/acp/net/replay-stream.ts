import { RequestError } from "@tandem/protocol";
import type { EventStream } from "../../http/sse/event-stream.ts";
import { commentFrame } from "../../http/sse/frame.ts";

interface NumberedMessage {
  id: number;
  text: string;
}

interface ReplayOptions {
  /** The id before the first message. */
  after: number;
  replayBytes: number;
  stallMs: number;
  /** Called when the backlog shrinks. */
  onRoom: () => void;
}

/**
 * Numbered messages for one client, in order. Sent messages are kept for a while, so that a client that reconnects gets
 * everything after its last id. Without an id it continues after the last written message. Only one listener at a time:
 * a new one replaces the previous one, which may be a dead connection.
 */
export class ReplayStream {
  readonly #options: ReplayOptions;
  /** Sent messages that are still kept, and messages not sent yet. */
  readonly #kept: NumberedMessage[] = [];
  readonly #waiting: NumberedMessage[] = [];
  #keptBytes = 0;
  #waitingBytes = 0;
  /** The newest id that was discarded. */
  #forgotten: number;
  #receiver: EventStream | undefined;
  #isPumping = false;

  constructor(options: ReplayOptions) {
    this.#options = options;
    this.#forgotten = options.after;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  get isListenedTo(): boolean {
    return this.#receiver !== undefined;
  }

  push(id: number, json: string): void {
    const text = `id: ${id}\ndata: ${json}\n\n`;
    this.#waiting.push({ id, text });
    this.#waitingBytes += text.length;
    void this.#pump();
  }

  /** Continues after the client's last id. If messages were discarded since, the first frame reports the gap. */
  attach(receiver: EventStream, last: number | undefined): void {
    const former = this.#receiver;
    this.#receiver = receiver;
    receiver.closed.addEventListener(
      "abort",
      () => {
        if (this.#receiver === receiver) this.#receiver = undefined;
      },
      { once: true },
    );
    // A listener with unsent data would delay the new one.
    if (former && former.unsent > 0) former.destroy();
    else former?.end(commentFrame("another request listens to this stream now"));
    if (last !== undefined) {
      if (last < this.#forgotten) receiver.write(gapFrame(last, this.#forgotten));
      this.#takeBack(last);
    }
    void this.#pump();
  }

  end(reason: string): void {
    this.#receiver?.end(commentFrame(reason));
  }

  async #pump(): Promise<void> {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#receiver && this.#waiting.length > 0) {
        const receiver = this.#receiver;
        const frame = this.#waiting.shift()!;
        this.#waitingBytes -= frame.text.length;
        this.#keep(frame);
        const hasRoom = receiver.write(frame.text);
        this.#options.onRoom();
        if (!hasRoom && !(await receiver.drained(this.#options.stallMs)) && receiver === this.#receiver)
          receiver.destroy();
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #keep(frame: NumberedMessage): void {
    this.#kept.push(frame);
    this.#keptBytes += frame.text.length;
    while (this.#keptBytes > this.#options.replayBytes) {
      const oldest = this.#kept.shift()!;
      this.#keptBytes -= oldest.text.length;
      this.#forgotten = oldest.id;
    }
  }

  /** Queues messages again that were written but did not arrive. */
  #takeBack(last: number): void {
    while (this.#kept.length > 0 && this.#kept.at(-1)!.id > last) {
      const frame = this.#kept.pop()!;
      this.#keptBytes -= frame.text.length;
      this.#waiting.unshift(frame);
      this.#waitingBytes += frame.text.length;
    }
  }
}

/** A regular JSON-RPC notification, so that clients that do not know gaps ignore it. */
const gapFrame = (after: number, next: number): string => {
  const message = { jsonrpc: "2.0", method: "_tandem/gap", params: { after: String(after), lost_until: String(next) } };
  return `event: gap\ndata: ${JSON.stringify(message)}\n\n`;
};

/** Parses the client's Last-Event-ID. */
export function readLastEventId(text: string | undefined, newest: number): number | undefined {
  if (text === undefined || text === "") return undefined;
  const id = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (id !== undefined && id <= newest) return id;
  throw new RequestError("invalid_request", "Last-Event-ID: this connection has never given out this id.", {
    fix: "Open the stream without it, and load the session again.",
  });
}
