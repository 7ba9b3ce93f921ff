import type { LiveDelta, SessionId } from "@tandem/protocol";
import type { Entry, PreviewSink } from "./outbox.ts";
import { PreviewBuffer } from "./preview-buffer.ts";
import type { PreviewSource, RemotePreviewSink } from "./preview-source.ts";

export interface PreviewListener {
  /** The position in the log that the listener has read. */
  after: number;
  /** With `here`, no connection to another process is opened. */
  from?: "here";
  hear: (deltas: readonly LiveDelta[]) => void;
}

interface Channel {
  previews: PreviewBuffer;
  /** The position in the log up to which previews have been settled. */
  settledTo: number;
  /**
   * With the events whose previews the listener did not get from the start: it does not get the rest either. Undefined
   * until the listener is admitted.
   */
  listeners: Map<PreviewListener, Set<string> | undefined>;
  /** Set while previews of another process are watched. */
  stopWatching?: (() => void) | undefined;
}

const UNKNOWN = -1;
/** A writer in this process settles previews before it writes their events. */
const WRITTEN_HERE = Infinity;

/**
 * Keeps the previews of events that are not in the log yet, and passes them to listeners. A listener that joins during an
 * answer starts with the text so far. It is admitted only when previews are settled up to its position in the log: it must
 * not get a preview of an event that it has read.
 */
export class DeltaHub {
  readonly #channels = new Map<SessionId, Channel>();
  readonly #source: PreviewSource | undefined;

  /** In a fleet, `source` provides the previews of sessions that other processes write. */
  constructor(source?: PreviewSource) {
    this.#source = source;
  }

  /** Calls `hear` before it returns if there are previews. Returns a function that ends the subscription. */
  listen(session: SessionId, listener: PreviewListener): () => void {
    const channel = this.#channel(session);
    channel.listeners.set(listener, undefined);
    if (listener.from !== "here") channel.stopWatching ??= this.#source?.watch(session, remoteSink(channel));
    admit(channel);
    return () => {
      channel.listeners.delete(listener);
      if (channel.stopWatching && [...channel.listeners.keys()].every(({ from }) => from === "here")) {
        channel.stopWatching();
        channel.stopWatching = undefined;
        if (channel.settledTo !== WRITTEN_HERE) abandon(channel);
      }
      this.#release(session, channel);
    };
  }

  /** The previews for a listener at that position in the log; undefined if they may belong to events before it. */
  snapshot(session: SessionId, after: number): Pick<PreviewBuffer, "deltas" | "torn"> | undefined {
    const { previews, settledTo } = this.#channels.get(session) ?? newChannel();
    return previews.isEmpty || settledTo >= after ? previews : undefined;
  }

  /** For the session's writer. */
  sink(session: SessionId): PreviewSink {
    return { show: (deltas) => this.publish(session, deltas), settle: (entries) => this.settle(session, entries) };
  }

  publish(session: SessionId, deltas: readonly LiveDelta[]): void {
    publish(this.#channel(session), deltas, WRITTEN_HERE);
  }

  settle(session: SessionId, entries: readonly Entry[]): void {
    for (const entry of entries) this.#channels.get(session)?.previews.settle(entry);
  }

  /** The session's writer is gone; its previews are abandoned. */
  forget(session: SessionId): void {
    const channel = this.#channel(session);
    abandon(channel);
    this.#release(session, channel);
  }

  #channel(session: SessionId): Channel {
    const channel = this.#channels.get(session) ?? newChannel();
    this.#channels.set(session, channel);
    return channel;
  }

  #release(session: SessionId, channel: Channel): void {
    const isUnused = channel.listeners.size === 0 && channel.previews.isEmpty;
    if (isUnused && this.#channels.get(session) === channel) this.#channels.delete(session);
  }
}

const newChannel = (): Channel => ({ previews: new PreviewBuffer(), settledTo: UNKNOWN, listeners: new Map() });

function abandon(channel: Channel): void {
  channel.previews.clear();
  channel.settledTo = UNKNOWN;
}

/** Does nothing while this process writes the session: its lease is the newer one. */
function remoteSink(channel: Channel): RemotePreviewSink {
  const ifRemote =
    <A extends unknown[]>(action: (...args: A) => void) =>
    (...args: A): void => {
      if (channel.settledTo !== WRITTEN_HERE) action(...args);
    };
  return {
    show: ifRemote((deltas, settledTo) => publish(channel, deltas, settledTo)),
    settle: ifRemote((events) => {
      for (const event of events) channel.previews.settle(event);
      channel.settledTo = events.at(-1)?.seq ?? channel.settledTo;
      admit(channel);
    }),
    tear: ifRemote(() => {
      channel.previews.tear();
      for (const muted of channel.listeners.values()) for (const id of channel.previews.torn) muted?.add(id);
    }),
  };
}

function publish(channel: Channel, deltas: readonly LiveDelta[], settledTo: number): void {
  channel.settledTo = settledTo;
  admit(channel);
  for (const live of deltas) channel.previews.apply(live);
  // Drop deltas of events that are already logged or abandoned.
  const current = deltas.filter(
    (live) => live.delta.type === "tandem.tool_progress" || channel.previews.has(idOf(live)),
  );
  // A copy: a listener that is added by a callback has these deltas from the buffer.
  const listeners = [...channel.listeners];
  for (const [{ hear }, muted] of listeners) {
    const heard = muted ? current.filter((live) => !muted.has(idOf(live))) : [];
    if (heard.length > 0) hear(heard);
  }
}

function admit({ listeners, previews, settledTo }: Channel): void {
  const before = [...listeners];
  for (const [listener, muted] of before) {
    if (muted || listener.after > settledTo) continue;
    listeners.set(listener, new Set(previews.torn));
    const { deltas } = previews;
    if (deltas.length > 0) listener.hear(deltas);
  }
}

const idOf = ({ delta }: LiveDelta): string => (delta.type === "event_start" ? delta.event.id : delta.event_id);
