import type { LoggedEvent, ThreadId } from "@tandem/protocol";
import type { EncodedEvent } from "../encoded-event.ts";
import type { LoggedRow } from "../operations/event-rows.ts";
import { toLoggedEvent } from "./event-row.ts";
import { toIsoOrNull } from "./time.ts";

/** An event of a log, for all its followers. Each form is made when the first of them needs it. */
export class LogEntry {
  readonly #row: LoggedRow;
  #logged: LoggedEvent | undefined;
  #encoded: EncodedEvent | undefined;

  constructor(row: LoggedRow, logged?: LoggedEvent) {
    this.#row = row;
    this.#logged = logged;
  }

  get seq(): number {
    return this.#row.seq;
  }

  get logged(): LoggedEvent {
    return (this.#logged ??= toLoggedEvent(this.#row));
  }

  get encoded(): EncodedEvent {
    return (this.#encoded ??= toEncodedEvent(this.#row));
  }
}

/** Puts the columns in front of the stored fields, without parsing those. */
export function toEncodedEvent({ seq, id, thread, type, at, shown, body }: LoggedRow): EncodedEvent {
  // Parsing would fail here as well: a damaged row must not become a part of an answer.
  if (!body.startsWith("{") || !body.endsWith("}")) throw new SyntaxError(`The event ${id} is damaged.`);
  const columns = JSON.stringify({ id, type, processed_at: toIsoOrNull(at) });
  const json = body === "{}" ? columns : `${columns.slice(0, -1)},${body.slice(1)}`;
  return { seq, thread: thread as ThreadId | null, id, type, at, isOnPrimary: shown === 1, json };
}
