import { StandingPreviews, type LiveDelta, type SessionId } from "@tandem/protocol";
import type { PreviewSource, PreviewWatch } from "./preview-source.ts";
import type { Entry, PreviewSink } from "./outbox.ts";

interface Listener {
  hear: (deltas: readonly LiveDelta[]) => void;
  /** Events whose previews it has not got from the beginning: it gets none of the rest. */
  muted: Set<string>;
}

/**
 * Hands live previews to whoever listens. What has been previewed of events that are not in the log yet is kept, so that
 * who comes in the middle of an answer begins with what there is of it. An event that somebody could have read in the log
 * is never previewed to them after that: its preview is let go of before it is written.
 */
export class DeltaHub {
  readonly #listeners = new Map<SessionId, Set<Listener>>();
  readonly #standing = new Map<SessionId, StandingPreviews>();
  readonly #source: PreviewSource | undefined;
  readonly #watched = new Map<SessionId, { watch: PreviewWatch; listeners: number }>();

  /** In a fleet, `source` has the previews of what other processes write. */
  constructor(source?: PreviewSource) {
    this.#source = source;
  }

  /** Previews of a session, whoever writes it: of other processes' from when it is known what of them the log has. */
  listen(session: SessionId, hear: Listener["hear"]): () => void {
    if (!this.#source) return this.listenHere(session, hear);
    const watched = this.#watched.get(session) ?? { watch: this.#watch(session, this.#source), listeners: 0 };
    this.#watched.set(session, watched);
    watched.listeners += 1;
    let leave: (() => void) | undefined;
    let isLeft = false;
    const join = (): void => {
      if (!isLeft) leave = this.listenHere(session, hear);
    };
    watched.watch.caughtUp().then(join, join);
    return () => {
      if (isLeft) return;
      isLeft = true;
      leave?.();
      watched.listeners -= 1;
      if (watched.listeners > 0) return;
      this.#watched.delete(session);
      watched.watch.stop();
    };
  }

  #watch(session: SessionId, source: PreviewSource): PreviewWatch {
    return source.watch(session, { ...this.outlet(session), forget: () => this.forget(session) });
  }

  /** Only of what this process has. Calls back before it returns, where something is being said. */
  listenHere(session: SessionId, hear: Listener["hear"]): () => void {
    const listeners = this.#listeners.get(session) ?? new Set();
    const standing = this.#standing.get(session);
    const listener: Listener = { hear, muted: new Set(standing?.torn) };
    this.#listeners.set(session, listeners.add(listener));
    const deltas = standing?.deltas ?? [];
    if (deltas.length > 0) hear(deltas);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.#listeners.get(session) === listeners) this.#listeners.delete(session);
    };
  }

  /** For the session's writer. */
  outlet(session: SessionId): PreviewSink {
    return {
      show: (deltas) => this.publish(session, deltas),
      settle: (entries) => this.settle(session, entries),
    };
  }

  publish(session: SessionId, deltas: readonly LiveDelta[]): void {
    const standing = this.#standing.get(session) ?? new StandingPreviews();
    for (const live of deltas) standing.apply(live);
    if (!standing.isEmpty) this.#standing.set(session, standing);
    // What is still said of an event that is there, or will not come, is said to nobody.
    const current = deltas.filter((live) => live.delta.type === "tandem.tool_progress" || standing.has(eventOf(live)));
    // A copy: who joins because of what is said here has it from what is standing.
    for (const { hear, muted } of [...(this.#listeners.get(session) ?? [])]) {
      const heard = muted.size === 0 ? current : current.filter((live) => !muted.has(eventOf(live)));
      if (heard.length > 0) hear(heard);
    }
  }

  settle(session: SessionId, entries: readonly Entry[]): void {
    const standing = this.#standing.get(session);
    if (!standing) return;
    for (const entry of entries) standing.settle(entry);
    if (standing.isEmpty) this.forget(session);
  }

  /** Nobody writes the session here any more: nothing comes of what was being said. */
  forget(session: SessionId): void {
    this.#standing.delete(session);
    for (const { muted } of this.#listeners.get(session) ?? []) muted.clear();
  }
}

const eventOf = ({ delta }: LiveDelta): string => (delta.type === "event_start" ? delta.event.id : delta.event_id);
