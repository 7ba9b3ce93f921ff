import type { ConversationOutput } from "@tandem/claude-code";
import {
  Redactor,
  type LoggedEvent,
  type SessionEvent,
  type SessionEventBody,
  type StreamRedactor,
} from "@tandem/protocol";
import type { EncodedEvent } from "@tandem/storage";

type DeltaOutput = Extract<ConversationOutput, { type: "delta" }>;
type Delta = DeltaOutput["delta"];
type TextDelta = Extract<Delta, { type: "event_delta" | "tandem.thinking_delta" | "tandem.tool_input_delta" }>;

interface Preview {
  redactor: StreamRedactor;
  /** The last piece, whose address the held text has. */
  last: DeltaOutput & { delta: TextDelta };
}

/**
 * Redacts credentials in a session's events and previews before they are stored or sent: a command may print a key that it
 * found. The model has seen it, and the transcript keeps it.
 */
export class EventRedactor {
  #all = new Redactor();
  #own = new Redactor([], "own");
  #secrets: readonly string[] = [];
  /** By event, then by content block. */
  readonly #previews = new Map<string, Map<number, Preview>>();

  /** Redacts this text, too, whatever its format. */
  hide(secret: string): void {
    if (this.#secrets.includes(secret)) return;
    this.#secrets = [...this.#secrets, secret];
    this.#all = new Redactor(this.#secrets);
    this.#own = new Redactor(this.#secrets, "own");
  }

  event<T extends SessionEventBody>(event: T): T {
    // A message that is sent again after a crash uses the stored text of its command.
    return event.type === "tandem.command" ? event : redactEvent(event, this.#all, this.#own);
  }

  /** Text that may begin a credential is held back until the next piece or the event itself. */
  output(output: ConversationOutput): ConversationOutput[] {
    switch (output.type) {
      case "event":
        return [...this.#endPreviews(output.id), { ...output, event: this.event(output.event) }];
      case "delta":
        return this.#delta(output);
      case "background":
        return [this.#all.value(output)];
      case "turn_ended":
      case "closed":
        this.#previews.clear();
        return [output];
      case "message_taken":
        return [output];
    }
  }

  #delta(output: DeltaOutput): DeltaOutput[] {
    const { delta } = output;
    const text = textOf(delta);
    if (text === undefined || !isTextDelta(delta)) return [{ ...output, delta: this.#all.value(delta) }];
    const blocks = this.#previews.get(delta.event_id) ?? new Map<number, Preview>();
    this.#previews.set(delta.event_id, blocks);
    const index = delta.type === "event_delta" ? (delta.delta.index ?? 0) : 0;
    const last = { ...output, delta };
    const { redactor } = blocks.get(index) ?? { redactor: this.#all.stream() };
    blocks.set(index, { redactor, last });
    return withText(last, redactor.push(text));
  }

  #endPreviews(event: string): DeltaOutput[] {
    const blocks = this.#previews.get(event);
    this.#previews.delete(event);
    return [...(blocks?.values() ?? [])].flatMap(({ redactor, last }) => withText(last, redactor.end()));
  }
}

const ALL = new Redactor();
const OWN = new Redactor([], "own");

/** Redacts a stored event for clients. Events from clients and from older versions are stored without redaction. */
export const servedEvent = <T extends SessionEvent>(event: T): T => redactEvent(event, ALL, OWN);

export const servedEvents = (logged: readonly LoggedEvent[]): LoggedEvent[] =>
  logged.map((entry) => {
    const event = servedEvent(entry.event);
    return event === entry.event ? entry : { ...entry, event };
  });

/** The same for an event in JSON, which is parsed only if it may have something to redact. */
export function servedJson(entry: EncodedEvent): EncodedEvent {
  if (!ALL.mayChange(entry.json)) return entry;
  const event = JSON.parse(entry.json) as SessionEvent;
  const served = servedEvent(event);
  return served === event ? entry : { ...entry, json: JSON.stringify(served) };
}

function redactEvent<T extends SessionEventBody>(event: T, all: Redactor, own: Redactor): T {
  const isRun = event.type === "agent.custom_tool_use" || (event.type === "agent.tool_use" && event.tandem?.worker);
  if (!isRun) return all.value(event);
  // The client or worker runs the tool with this input, so that credentials of other services stay.
  return { ...all.value({ ...event, input: {} }), input: own.value(event.input) };
}

const isTextDelta = (delta: Delta): delta is TextDelta => textOf(delta) !== undefined;

function textOf(delta: Delta): string | undefined {
  switch (delta.type) {
    case "event_delta":
      return delta.delta.content.text;
    case "tandem.thinking_delta":
      return delta.text;
    case "tandem.tool_input_delta":
      return delta.json;
    default:
      return undefined;
  }
}

function withText({ delta, ...output }: DeltaOutput & { delta: TextDelta }, text: string): DeltaOutput[] {
  if (text === "") return [];
  switch (delta.type) {
    case "event_delta": {
      const content = { ...delta.delta.content, text };
      return [{ ...output, delta: { ...delta, delta: { ...delta.delta, content } } }];
    }
    case "tandem.thinking_delta":
      return [{ ...output, delta: { ...delta, text } }];
    case "tandem.tool_input_delta":
      return [{ ...output, delta: { ...delta, json: text } }];
  }
}
