const SEND = /^\/v1\/sessions\/([^/?]+)\/events(\?|$)/;
const STREAM = /^\/v1\/sessions\/([^/?]+)\/events\/stream(\?|$)/;

/** A program that opens its stream this long after its message would miss parts of a turn of a real model, too. */
const LATE_MS = 10_000;

/**
 * Lets a program send a message and open the stream afterwards, as Anthropic's examples do. A real model leaves it the time
 * for that; an emulated turn may have ended by then. The first stream after a message begins with what followed the
 * message, unless an earlier stream has delivered some of it.
 */
export class LateStreams {
  readonly #sent = new Map<string, { position: number; at: number }>();

  /** A message is about to be sent. `position` reads the end of the session's log. */
  async sending(method: string, path: string, position: (session: string) => Promise<number>): Promise<void> {
    const session = method === "POST" ? SEND.exec(path)?.[1] : undefined;
    if (session === undefined) return;
    try {
      this.#sent.set(session, { position: await position(session), at: performance.now() });
    } catch {
      // There is no such session: the server says so to the client.
      this.#sent.delete(session);
    }
  }

  /** A stream opens. Returns the position that it continues from if it is late, and what to call when it delivers something. */
  opened(method: string, path: string): { after: string | undefined; delivered: () => void } | undefined {
    const session = method === "GET" ? STREAM.exec(path)?.[1] : undefined;
    if (session === undefined) return undefined;
    const sent = this.#sent.get(session);
    this.#sent.delete(session);
    const isLate = sent !== undefined && performance.now() - sent.at < LATE_MS;
    return { after: isLate ? String(sent.position) : undefined, delivered: () => this.#sent.delete(session) };
  }
}
