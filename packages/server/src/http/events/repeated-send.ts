import { isDeepStrictEqual } from "node:util";
import { redactValue, type ClientEvent, type SessionEvent } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";

// Makes retried sends idempotent. The official clients retry when the connection breaks before the response, although
// the first try may have been stored. They send no idempotency key, only the number of the try. So a retry looks for
// its events in the log and the input queue, which survive a crash; nothing else is stored. A client that sends equal
// messages on purpose starts with try 0 each time, and both are stored. A match must have been stored within the time
// that the tries can have taken. The window is short, because an equal earlier message may have been intended: a longer
// window would drop a retry whose first try never arrived.

/** The clients wait half a second before the first retry and double it each time, up to this. */
const SLOWEST_BACKOFF_MS = 8_000;
/** The time for a try to fail: at once if the connection is reset, about ten seconds if it is not accepted. */
const FAILING_MS = 10_000;
const MAX_EVENTS = 200;

/** How long before this try an equal send may have been stored and still count as the same. */
export function repeatWindowMs(tryNumber: number): number {
  let windowMs = 0;
  for (let i = 0; i < Math.min(tryNumber, 1_000); i++) {
    windowMs += FAILING_MS + Math.min(500 * 2 ** i, SLOWEST_BACKOFF_MS);
  }
  return windowMs;
}

interface Send {
  begun: number;
  outcome: Promise<unknown>;
}

/**
 * Sends of this process that are not stored yet, so that a retry waits for the first try. Also remembers, for a while,
 * sends that took longer than a try should, whether they failed or not.
 */
export class SendsUnderWay {
  readonly #bySession = new Map<string, Set<Send>>();

  async run<T>(session: string, send: () => Promise<T>): Promise<T> {
    const sends = this.#bySession.get(session) ?? new Set();
    this.#bySession.set(session, sends);
    // Before the events get ids, because ids contain their time.
    const begun = Date.now();
    const outcome = send();
    const entry = { begun, outcome };
    sends.add(entry);
    const forget = (): void => {
      sends.delete(entry);
      if (sends.size === 0 && this.#bySession.get(session) === sends) this.#bySession.delete(session);
    };
    try {
      return await outcome;
    } finally {
      if (Date.now() - entry.begun < FAILING_MS) forget();
      else setTimeout(forget, FAILING_MS + SLOWEST_BACKOFF_MS).unref();
    }
  }

  /** Resolves when no send is in progress, with the start of the earliest one. */
  async settled(session: string): Promise<number> {
    const sends = [...(this.#bySession.get(session) ?? [])];
    await Promise.allSettled(sends.map(({ outcome }) => outcome));
    return Math.min(...sends.map(({ begun }) => begun));
  }
}

/** The events of an earlier try since `since`, if all sent events are stored. */
export async function findEarlierTry(
  sessions: Sessions,
  session: string,
  events: readonly ClientEvent[],
  since: number,
): Promise<SessionEvent[] | undefined> {
  const { events: logged, waiting } = await sessions.events(session, {
    order: "desc",
    limit: MAX_EVENTS,
    types: [...new Set(events.map(({ type }) => type))],
  });
  const newestFirst = [...waiting.toReversed(), ...logged.map(({ event }) => event)];
  const candidates = newestFirst.filter(({ id }) => madeAt(id) >= since);
  const found: SessionEvent[] = [];
  // The stored events are read with credentials redacted.
  for (const event of redactValue(events).toReversed()) {
    const index = candidates.findIndex((candidate) => isSame(candidate, event));
    if (index === -1) return undefined;
    found.unshift(...candidates.splice(index, 1));
  }
  return found;
}

/** The stored event may have more fields, but every sent field must be equal; the engine sets the sender. */
const isSame = (stored: SessionEvent, sent: ClientEvent): boolean =>
  Object.entries(sent).every(([key, value]) => {
    const kept = (stored as Record<string, unknown>)[key];
    return isDeepStrictEqual(key === "tandem" ? withoutSender(kept) : kept, value);
  });

function withoutSender(note: unknown): unknown {
  if (typeof note !== "object" || note === null) return note;
  // Each try has its own span.
  const { by: _, traceparent: __, ...rest } = note as { by?: unknown; traceparent?: unknown };
  return rest;
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The time in an id. Foreign ids have none and count as old. */
function madeAt(id: string): number {
  const digits = /^sevt_([0-9A-HJKMNP-TV-Z]{10})[0-9A-Z]{16}$/.exec(id)?.[1];
  return digits ? Array.from(digits).reduce((time, digit) => time * 32 + ALPHABET.indexOf(digit), 0) : 0;
}
