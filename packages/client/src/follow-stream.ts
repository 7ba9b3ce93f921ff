import { sleep, systemClock } from "@tandem/protocol";

const FIRST_PAUSE_MS = 500;
/** A restarted server is back within seconds, and a retry costs it nothing. */
const MAX_PAUSE_MS = 5_000;
/** The server sends a heartbeat at least every fifteen seconds; a connection that is silent for longer is dead. */
const SILENCE_MS = 45_000;

export type Connection = "connecting" | "live" | "lost";

export interface FollowHooks<Data> {
  onFrame: (frame: { id: string | undefined; data: Data }) => void;
  onConnection?: (state: Connection) => void;
  /** After every reopening: the caller may have missed changes that have no event. */
  onReopen?: () => void;
  /** Called with the error that ended or prevented a connection. Throws to give up instead of retrying. */
  onError?: (error: unknown) => void;
  /** Delays opening, for a page in a hidden tab. */
  beforeOpen?: (signal: AbortSignal) => Promise<void>;
  /** May close the connection early, without an error and without a pause; returns a function that stops watching. */
  watch?: (close: () => void) => () => void;
  /** The pause before a retry; may end early, as when the network is back. */
  rest?: (ms: number, signal: AbortSignal) => Promise<void>;
}

type Open<Data> = (
  lastEventId: string | undefined,
  signal: AbortSignal,
  onBytes: () => void,
) => Promise<AsyncIterable<{ id: string | undefined; data: Data }>>;

/**
 * Reads a stream until the signal fires. A broken connection is reopened after the last event, with backoff. Rejects only
 * if `onError` throws.
 */
export async function followStream<Data>(
  open: Open<Data>,
  { from, signal, rest = restFor, ...hooks }: FollowHooks<Data> & { from?: string | undefined; signal: AbortSignal },
): Promise<void> {
  let lastEventId = from;
  let pause = FIRST_PAUSE_MS;
  let isFirst = true;
  for (let isResting = false; !signal.aborted; isFirst = false) {
    hooks.onConnection?.(isFirst || isResting ? "connecting" : "lost");
    await hooks.beforeOpen?.(signal);
    if (signal.aborted) return;
    const line = new AbortController();
    isResting = false;
    const stopWatching = hooks.watch?.(() => {
      isResting = true;
      line.abort();
    });
    let silence = setTimeout(() => line.abort(), SILENCE_MS);
    const onBytes = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => line.abort(), SILENCE_MS);
    };
    try {
      const frames = await open(lastEventId, AbortSignal.any([signal, line.signal]), onBytes);
      if (!isFirst) hooks.onReopen?.();
      hooks.onConnection?.("live");
      for await (const frame of frames) {
        pause = FIRST_PAUSE_MS;
        lastEventId = frame.id ?? lastEventId;
        hooks.onFrame(frame);
      }
    } catch (error) {
      if (!signal.aborted && !isResting) hooks.onError?.(error);
    } finally {
      clearTimeout(silence);
      stopWatching?.();
    }
    if (signal.aborted) return;
    if (isResting) continue;
    hooks.onConnection?.("lost");
    await rest(pause, signal);
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
  }
}

const restFor = (ms: number, signal: AbortSignal): Promise<void> =>
  sleep(systemClock, ms, { signal, keepsProcess: true });
