import { EventIds, PrintInput, type PrintForm } from "@tandem/claude-code";
import { newId, type Clock, type SessionId } from "@tandem/protocol";
import type { Store } from "@tandem/storage";
import { PastLog, type PlacedEvent } from "./past-log.ts";
import { restorePast, type ImportTarget } from "./restore-past.ts";

/**
 * Converts output of `claude --print` to events, line by line. It can be stored as a session, without a transcript to resume
 * from.
 */
export class PrintedPast {
  readonly #name = newId("session");
  readonly #primaryThread = new EventIds(this.#name).threadOf("primary");
  readonly #clock: Clock;
  readonly #log: PastLog;
  readonly #input: PrintInput;
  /** Undefined if the events are not stored: an input may run for days. */
  readonly #events: PlacedEvent[] | undefined;
  #lines = 0;

  constructor(clock: Clock, { form, isKept = true }: { form?: PrintForm | undefined; isKept?: boolean } = {}) {
    this.#clock = clock;
    this.#log = new PastLog(this.#name, this.#primaryThread, clock);
    this.#input = new PrintInput(this.#name, this.#primaryThread, form);
    this.#events = isKept ? [] : undefined;
  }

  line(text: string): PlacedEvent[] {
    this.#lines += 1;
    return this.#keep(this.#log.accept(this.#input.line(text)));
  }

  /** `isWhole` is false if the input ended before a result. */
  end(): { events: PlacedEvent[]; isWhole: boolean } {
    const { outputs, isWhole } = this.#input.end();
    return { events: this.#keep(this.#log.accept(outputs)), isWhole };
  }

  async store(store: Store, settings: Omit<ImportTarget, "clock">): Promise<SessionId> {
    const events = this.#events;
    if (!events) throw new Error("Parts that were not kept cannot be stored.");
    const init = events.map(({ event }) => event).find((event) => event.type === "tandem.init");
    const message = events.map(({ event }) => event).find((event) => event.type === "user.message");
    const answer = events.map(({ event }) => event).find((event) => event.type === "agent.message");
    const first = (message ?? answer)?.content[0];
    const facts = {
      folder: init?.folder,
      version: init?.claude_code_version,
      models: init ? [init.model] : [],
      title: undefined,
      firstPrompt: first?.type === "text" ? first.text : undefined,
      messages: events.length,
      begunAt: events[0]?.event.processed_at ?? undefined,
      lastAt: this.#log.last,
    };
    await restorePast(
      store,
      this.#name,
      {
        from: "claude-print",
        claudeSession: this.#input.session,
        events,
        log: this.#log,
        facts,
        transcripts: new Map(),
        messages: new Map(),
        primaryThread: this.#primaryThread,
        lines: this.#lines,
        unreadable: this.#input.unreadable,
      },
      { ...settings, clock: this.#clock },
    );
    return this.#name;
  }

  #keep(events: PlacedEvent[]): PlacedEvent[] {
    this.#events?.push(...events);
    return events;
  }
}
