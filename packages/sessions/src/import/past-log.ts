import { EventIds, type PastOutput, type TurnEnd } from "@tandem/claude-code";
import {
  type EventId,
  type SessionEvent,
  type SessionEventBody,
  type ThreadId,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import { stopReason } from "../turn/turn-end.ts";
import { UsageLedger } from "../log/usage-ledger.ts";

export interface PlacedEvent {
  thread: ThreadId | null;
  event: SessionEvent;
}

/** Builds a session log from a foreign conversation: messages, turns with start and end, and usage. */
export class PastLog {
  readonly ledger: UsageLedger;
  /** Messages by the ids of their lines. */
  readonly messages = new Map<string, EventId>();
  readonly #ids: EventIds;
  readonly #now: () => string;
  #last: string | undefined;
  /** The last event; ids of added events derive from it. */
  #anchor = "";
  #runsSince: string | undefined;

  constructor(conversation: string, primaryThread: ThreadId, clock: Clock) {
    this.ledger = new UsageLedger(primaryThread, {
      now: () => (this.#last === undefined ? clock.now() : Date.parse(this.#last)),
    });
    this.#ids = new EventIds(conversation);
    this.#now = () => isoNow(clock);
  }

  /** The time of the last event. */
  get last(): string | undefined {
    return this.#last;
  }

  accept(outputs: readonly PastOutput[]): PlacedEvent[] {
    return outputs.flatMap((each) => {
      const events = this.#accept(each);
      for (const { event } of events) this.ledger.times.note(event);
      return events;
    });
  }

  #accept({ at = this.#now(), output }: PastOutput): PlacedEvent[] {
    this.#last = at;
    const own = (body: SessionEventBody): PlacedEvent => place(null, this.#ids.next(), body, at);
    if ("id" in output) this.#anchor = output.id;
    this.#ids.at(`${output.type}/${this.#anchor}`);
    switch (output.type) {
      case "prompt": {
        const { id, uuid, content } = output;
        if (uuid !== undefined) this.messages.set(uuid, id);
        return [place(null, id, { type: "user.message", content }, at)];
      }
      case "event": {
        const { thread, id, event } = output;
        if (event.type === "span.model_request_end") this.ledger.add(thread, event);
        const begins = this.#runsSince === undefined && BEGINS.test(event.type);
        if (begins) this.#runsSince = at;
        return [...(begins ? [own({ type: "session.status_running" })] : []), place(thread, id, event, at)];
      }
      case "turn_ended":
        return this.#end(output.outcome).map(own);
      case "background":
        return [own({ type: "tandem.background", tasks: output.tasks })];
      case "delta":
      case "message_taken":
      case "closed":
        return [];
    }
  }

  #end(end: TurnEnd): SessionEventBody[] {
    const { ledger } = this;
    ledger.turns += 1;
    this.#runsSince = undefined;
    // Transcripts have no turn totals; if there are some, they count requests that were not shown.
    if (Object.keys(end.reported).length > 0) ledger.reconcile(end.reported);
    return [
      { type: "session.usage", usage: ledger.total, budget: null, tandem: ledger.note },
      ...(end.error ? [{ type: "session.error" as const, error: end.error }] : []),
      { type: "session.status_idle", stop_reason: stopReason(end), stop_details: end.stopDetails },
    ];
  }
}

/** Events that only occur in turns. */
const BEGINS = /^(agent\.|span\.|session\.thread_)/;

const place = (thread: ThreadId | null, id: EventId, body: SessionEventBody, at: string): PlacedEvent => ({
  thread,
  event: { ...body, id, processed_at: at },
});
