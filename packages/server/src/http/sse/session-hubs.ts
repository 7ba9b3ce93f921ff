import type { SessionId } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";
import type { Logger } from "../create-logger.ts";
import type { Audience } from "./audience.ts";
import type { EventStream } from "./event-stream.ts";
import { SessionHub, type HubSettings, type OnReceive } from "./session-hub.ts";

interface Place {
  hub: SessionHub;
  started: Promise<void>;
  clients: number;
}

/** The hubs of the sessions that somebody listens to. */
export class SessionHubs {
  readonly #places = new Map<SessionId, Place>();
  readonly #sessions: Sessions;
  readonly #settings: HubSettings;
  readonly #logger: Logger;
  readonly #onReceive: OnReceive | undefined;

  constructor(sessions: Sessions, settings: HubSettings, logger: Logger, onReceive?: OnReceive) {
    this.#sessions = sessions;
    this.#settings = settings;
    this.#logger = logger;
    this.#onReceive = onReceive;
  }

  get size(): number {
    return this.#places.size;
  }

  /**
   * Lets a client listen. `open` answers its request, and is called only once nothing can go wrong any more: a client that
   * sees the answer misses nothing that happens after.
   */
  async join(
    session: SessionId,
    client: { audience: Audience; after: number | undefined; open: () => EventStream },
  ): Promise<void> {
    const place = this.#enter(session);
    let stream: EventStream;
    try {
      await place.started;
      stream = client.open();
    } catch (error) {
      this.#leave(session, place);
      throw error;
    }
    stream.closed.addEventListener("abort", () => this.#leave(session, place), { once: true });
    if (stream.closed.aborted) this.#leave(session, place);
    else place.hub.join(stream, client.audience, client.after);
  }

  #enter(session: SessionId): Place {
    let place = this.#places.get(session);
    if (!place) {
      const hub = new SessionHub(session, this.#sessions, this.#settings, {
        ...{ logger: this.#logger, onReceive: this.#onReceive },
      });
      place = { hub, started: hub.start(), clients: 0 };
      this.#places.set(session, place);
    }
    place.clients += 1;
    return place;
  }

  #leave(session: SessionId, place: Place): void {
    place.clients -= 1;
    if (place.clients > 0) return;
    place.hub.stop();
    if (this.#places.get(session) === place) this.#places.delete(session);
  }
}
