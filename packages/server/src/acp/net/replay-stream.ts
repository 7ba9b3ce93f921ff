import { RequestError } from "@tandem/protocol";
import type { EventStream } from "../../http/sse/event-stream.ts";
import { commentFrame } from "../../http/sse/frame.ts";

interface Frame {
  id: number;
  text: string;
}

/**
 * Messages for one client in order, each with an id. Those that it has been sent are kept for a while: whoever comes back
 * after a cut says the last id that it has, and gets what came after it. A client that says none goes on after what was
 * written last. One listens at a time, and the newest is right: the one before may be a connection that died unnoticed.
 */
export class ReplayStream {
  readonly #replayBytes: number;
  readonly #stallMs: number;
  readonly #onRoom: () => void;
  /** What has been written to a client, as far as it is still there; and what has not. */
  readonly #kept: Frame[] = [];
  readonly #waiting: Frame[] = [];
  #keptBytes = 0;
  #waitingBytes = 0;
  /** The newest that is not there any more. */
  #forgotten: number;
  #receiver: EventStream | undefined;
  #isPumping = false;

  constructor({
    after,
    replayBytes,
    stallMs,
    onRoom,
  }: {
    /** The id before its first. */
    after: number;
    replayBytes: number;
    stallMs: number;
    /** Called when less waits than before. */
    onRoom: () => void;
  }) {
    this.#forgotten = after;
    this.#replayBytes = replayBytes;
    this.#stallMs = stallMs;
    this.#onRoom = onRoom;
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

  /** From after the id that the client says it has. Where something of that is gone, the first thing it gets says so. */
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
    // Who has not taken what it was sent would hold up the new one.
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
        this.#onRoom();
        if (!hasRoom && !(await receiver.drained(this.#stallMs)) && receiver === this.#receiver) receiver.destroy();
      }
    } finally {
      this.#isPumping = false;
    }
  }

  #keep(frame: Frame): void {
    this.#kept.push(frame);
    this.#keptBytes += frame.text.length;
    while (this.#keptBytes > this.#replayBytes) {
      const oldest = this.#kept.shift()!;
      this.#keptBytes -= oldest.text.length;
      this.#forgotten = oldest.id;
    }
  }

  /** What was written and has not arrived waits again. */
  #takeBack(last: number): void {
    while (this.#kept.length > 0 && this.#kept.at(-1)!.id > last) {
      const frame = this.#kept.pop()!;
      this.#keptBytes -= frame.text.length;
      this.#waiting.unshift(frame);
      this.#waitingBytes += frame.text.length;
    }
  }
}

/** A message of JSON-RPC like all others, so that a client that knows nothing of gaps passes over it. */
const gapFrame = (after: number, next: number): string => {
  const message = { jsonrpc: "2.0", method: "_tandem/gap", params: { after: String(after), lost_until: String(next) } };
  return `event: gap\ndata: ${JSON.stringify(message)}\n\n`;
};

/** The id that a client gives back. */
export function readLastEventId(text: string | undefined, newest: number): number | undefined {
  if (text === undefined || text === "") return undefined;
  const id = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
  if (id !== undefined && id <= newest) return id;
  throw new RequestError("invalid_request", "Last-Event-ID: this connection has never given out this id.", {
    fix: "Open the stream without it, and load the session again.",
  });
}
