import { isOwnType, PREVIEWS, type Delta, type ThreadId } from "@tandem/protocol";
import { isAbout } from "../events/read-thread.ts";
import type { StreamItem } from "./stream-item.ts";

type Preview = (typeof PREVIEWS)[number];

/** The filter of a client: which items of a session it asked for. Clients with equal filters share encoded bytes. */
export class Audience {
  readonly key: string;
  /** Null for the session's own stream, which is that of its primary thread. */
  readonly #thread: ThreadId | null;
  readonly #previews: ReadonlySet<Preview>;
  /** Whether the client knows Tandem's own types. */
  readonly tandem: boolean;

  constructor({
    thread,
    previews,
    tandem,
  }: {
    thread: ThreadId | null;
    previews: readonly Preview[];
    tandem: boolean;
  }) {
    this.#thread = thread;
    this.#previews = new Set(previews);
    this.tandem = tandem;
    this.key = JSON.stringify([thread, PREVIEWS.filter((preview) => this.#previews.has(preview)), tandem]);
  }

  wants(item: StreamItem): boolean {
    if (item.type === "delta") return item.live.thread === this.#thread && this.#wantsDelta(item.live.delta);
    // For the official tool runner `session.status_idle` is the last event of a turn: any event after it makes the
    // runner wait forever.
    if (!this.tandem && isOwnType(item.event.type)) return false;
    return this.#thread === null ? item.event.isOnPrimary : isAbout(item.event, this.#thread);
  }

  #wantsDelta(delta: Delta): boolean {
    switch (delta.type) {
      case "event_start":
        return this.#previews.has(delta.event.type);
      case "event_delta":
        return this.#previews.has("agent.message");
      case "tandem.thinking_delta":
      case "tandem.tool_input_start":
      case "tandem.tool_input_delta":
      case "tandem.tool_progress":
        return this.tandem;
    }
  }
}
