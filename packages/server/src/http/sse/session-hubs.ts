import type { SessionId } from "@tandem/protocol";
import type { Audience } from "./audience.ts";
import type { EventStream } from "./event-stream.ts";
import { SessionHub, type HubDependencies } from "./session-hub.ts";

interface HubEntry {
  hub: SessionHub;
  started: Promise<void>;
  clients: number;
}

/** The hubs of sessions with clients. */
export class SessionHubs {
  readonly #entries = new Map<SessionId, HubEntry>();
  readonly #dependencies: HubDependencies;

  constructor(dependencies: HubDependencies) {
    this.#dependencies = dependencies;
  }

  get size(): number {
    return this.#entries.size;
  }

  /**
   * Adds a client. `open` sends the response headers and is called only after every step that can fail: a client that
   * sees the response misses no later event.
   */
  async join(
    session: SessionId,
    client: { audience: Audience; after: number | undefined; open: () => EventStream },
  ): Promise<void> {
    const entry = this.#enter(session);
    let stream: EventStream;
    try {
      await entry.started;
      stream = client.open();
    } catch (error) {
      this.#leave(session, entry);
      throw error;
    }
    stream.closed.addEventListener("abort", () => this.#leave(session, entry), { once: true });
    if (stream.closed.aborted) this.#leave(session, entry);
    else entry.hub.join(stream, client.audience, client.after);
  }

  #enter(session: SessionId): HubEntry {
    let entry = this.#entries.get(session);
    if (!entry) {
      const hub = new SessionHub(session, this.#dependencies);
      entry = { hub, started: hub.start(), clients: 0 };
      this.#entries.set(session, entry);
    }
    entry.clients += 1;
    return entry;
  }

  #leave(session: SessionId, entry: HubEntry): void {
    entry.clients -= 1;
    if (entry.clients > 0) return;
    entry.hub.stop();
    if (this.#entries.get(session) === entry) this.#entries.delete(session);
  }
}
