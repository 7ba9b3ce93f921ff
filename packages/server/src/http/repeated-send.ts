import { isDeepStrictEqual } from "node:util";
import type { ClientEvent, SessionEvent } from "@tandem/protocol";
import type { Sessions } from "@tandem/sessions";

// The official clients send again when the connection broke before the answer came, and the first try may have been stored.
// They give a send no key, only the number of the try. So a second try looks whether what it sends is there already: in the
// log and the inbox themselves, which are what survives a crash; nothing else is kept. Whoever sends the same words twice
// on purpose begins with try 0 each time, and gets both.
//
// What is there already must have been stored within the time that the tries can have taken. That is short, because an equal
// message from before may also have been meant: then this one, whose first try never arrived, would be lost.

/** Between tries, the clients wait half a second, then twice as long each time, at most this. */
const SLOWEST_BACKOFF_MS = 8_000;
/** For a try to fail: a connection that is reset fails at once, one that is not accepted after about ten seconds. */
const FAILING_MS = 10_000;
const MOST_EVENTS = 200;

/** How long before the try with this number an equal send may have been stored and still be the same one. */
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
 * Sends of this process that have not been stored yet, so that a second try waits for the first; and, for a while, those
 * that took longer than a try is thought to take, whether they failed or not.
 */
export class SendsUnderWay {
  readonly #bySession = new Map<string, Set<Send>>();

  async run<T>(session: string, send: () => Promise<T>): Promise<T> {
    const sends = this.#bySession.get(session) ?? new Set();
    this.#bySession.set(session, sends);
    // Before its events are given ids, which say when they were made.
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

  /** Resolves when none is under way any more, with when the first of them began. */
  async settled(session: string): Promise<number> {
    const sends = [...(this.#bySession.get(session) ?? [])];
    await Promise.allSettled(sends.map(({ outcome }) => outcome));
    return Math.min(...sends.map(({ begun }) => begun));
  }
}

/** The events of an earlier try that began at `since` or later, if all that is sent is there. */
export async function findEarlierTry(
  sessions: Sessions,
  session: string,
  events: readonly ClientEvent[],
  since: number,
): Promise<SessionEvent[] | undefined> {
  const { events: logged, waiting } = await sessions.events(session, {
    order: "desc",
    limit: MOST_EVENTS,
    types: [...new Set(events.map(({ type }) => type))],
  });
  const newestFirst = [...waiting.toReversed(), ...logged.map(({ event }) => event)];
  const candidates = newestFirst.filter(({ id }) => madeAt(id) >= since);
  const found: SessionEvent[] = [];
  for (const event of events.toReversed()) {
    const index = candidates.findIndex((candidate) => isSame(candidate, event));
    if (index === -1) return undefined;
    found.unshift(...candidates.splice(index, 1));
  }
  return found;
}

/** What is stored may have more keys, but each that was sent as it was sent; who sent it is the engine's to say. */
const isSame = (stored: SessionEvent, sent: ClientEvent): boolean =>
  Object.entries(sent).every(([key, value]) => {
    const kept = (stored as Record<string, unknown>)[key];
    return isDeepStrictEqual(key === "tandem" ? withoutSender(kept) : kept, value);
  });

function withoutSender(note: unknown): unknown {
  if (typeof note !== "object" || note === null) return note;
  // Each try is a span of its own.
  const { by: _, traceparent: __, ...rest } = note as { by?: unknown; traceparent?: unknown };
  return rest;
}

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** When an id was made: it begins with the time. One that was not made here has none, and counts as old. */
function madeAt(id: string): number {
  const digits = /^sevt_([0-9A-HJKMNP-TV-Z]{10})[0-9A-Z]{16}$/.exec(id)?.[1];
  return digits ? Array.from(digits).reduce((time, digit) => time * 32 + ALPHABET.indexOf(digit), 0) : 0;
}
