import { refusal } from "./client.ts";

export interface Frame {
  id: string | undefined;
  data: unknown;
}

const FIRST_PAUSE_MS = 500;
/** A server that is started again is back within a moment; asking costs it nothing. */
const LONGEST_PAUSE_MS = 5_000;
/** The server says something at least every fifteen seconds; a line that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/** Who goes to another tab and comes back at once has missed nothing. */
const UNSEEN_MS = 5_000;

export type Connection = "connecting" | "live" | "lost";

/**
 * Reads a stream of events for as long as the signal does not fire: a line that breaks is opened again from the last event
 * that came, so that nothing is missed and nothing comes twice.
 */
export async function readStream(
  path: string,
  parts: {
    from?: string;
    signal: AbortSignal;
    onFrame: (frame: Frame) => void;
    onConnection: (state: Connection) => void;
    /** Closed while nobody looks, and opened again from where it was: a browser has six lines to a server, for all its tabs. */
    isForEyes?: boolean;
    /** Once more from the beginning: what there is after a gap is not known. */
    onReopen?: () => void;
  },
): Promise<void> {
  const { signal, onFrame, onConnection } = parts;
  let last = parts.from;
  let pause = FIRST_PAUSE_MS;
  let isFirst = true;
  for (let isResting = false; !signal.aborted; isFirst = false) {
    onConnection(isFirst || isResting ? "connecting" : "lost");
    if (parts.isForEyes) await seen(signal);
    const line = new AbortController();
    isResting = false;
    const stopWatching = parts.isForEyes
      ? whenUnseen(() => {
          isResting = true;
          line.abort();
        })
      : () => undefined;
    try {
      const both = AbortSignal.any([signal, line.signal]);
      const response = await fetch(path, {
        signal: both,
        headers: last === undefined ? {} : { "last-event-id": last },
      });
      if (!response.ok || !response.body) throw await refusal(response);
      if (!isFirst) parts.onReopen?.();
      onConnection("live");
      for await (const frame of frames(response.body, () => line.abort())) {
        pause = FIRST_PAUSE_MS;
        last = frame.id ?? last;
        onFrame(frame);
      }
    } catch {
      // Whatever it was: it is tried again, and the state says so.
    } finally {
      stopWatching();
    }
    if (signal.aborted) return;
    if (isResting) continue;
    onConnection("lost");
    await rest(pause, signal);
    pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
  }
}

async function* frames(body: ReadableStream<Uint8Array>, giveUp: () => void): AsyncGenerator<Frame> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader();
  let buffer = "";
  for (;;) {
    const timer = setTimeout(giveUp, SILENCE_MS);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    buffer += value;
    const blocks = buffer.split("\n\n");
    buffer = blocks.pop() ?? "";
    for (const block of blocks) {
      const frame = parse(block);
      if (frame) yield frame;
    }
  }
}

function parse(block: string): Frame | undefined {
  let id: string | undefined;
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("id: ")) id = line.slice(4);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  return data === "" ? undefined : { id, data: JSON.parse(data) as unknown };
}

const isSeen = (): boolean => document.visibilityState === "visible";

/** Until somebody looks at the page. */
const seen = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (!isSeen() && !signal.aborted) return;
      document.removeEventListener("visibilitychange", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    signal.addEventListener("abort", look, { once: true });
    look();
  });

/** Calls back when nobody has looked at the page for a while; returns what ends that. */
function whenUnseen(leave: () => void): () => void {
  let timer: number | undefined;
  const look = (): void => {
    clearTimeout(timer);
    if (!isSeen()) timer = window.setTimeout(leave, UNSEEN_MS);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}

/** Until the pause is over, or the browser says that it is back on the network or on the screen. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const over = (): void => {
      clearTimeout(timer);
      for (const name of ["online", "focus"]) removeEventListener(name, over);
      resolve();
    };
    const timer = setTimeout(over, ms);
    for (const name of ["online", "focus"]) addEventListener(name, over);
    signal.addEventListener("abort", over, { once: true });
  });
}
