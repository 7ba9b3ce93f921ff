import type { Message, Part, PartOf } from "./message.ts";
import type { FilePatch } from "../events/file-patch.ts";
import type { LoggedEvent } from "../events/session-event.ts";

/** The state of a thread, as indices of its messages. */
interface Line {
  /** The agent message that receives further parts. */
  open?: number;
  last?: number;
}

type ChangedFile = PartOf<"patch">["files"][number];

/**
 * The messages of a fold, in order of their start. Messages and parts are immutable: a change replaces them, so that views can
 * compare by identity.
 */
export class Timeline {
  readonly messages: Message[] = [];
  /** The message that started the running turn. */
  turn: string | null = null;
  /** The part of the evaluation in progress. */
  evaluation: string | null = null;
  /** True if it is known that no turn is running. */
  idle = false;
  /** Workflow runs by the threads of their agents. */
  readonly runOfThread = new Map<string, string>();
  readonly #placeOfMessage = new Map<string, number>();
  readonly #placeOfPart = new Map<string, number>();
  readonly #partByToolUse = new Map<string, string>();
  readonly #lines = new Map<string | null, Line>();
  readonly #changed = new Map<string, ChangedFile>();

  begin(message: Message): void {
    const place = this.messages.push(message) - 1;
    this.#placeOfMessage.set(message.id, place);
    for (const part of message.parts) this.#index(part, place);
    const line = this.#line(message.thread);
    line.last = place;
    line.open = message.role === "agent" ? place : undefined;
  }

  /** Starts a message with this event. */
  beginWith(role: Message["role"], entry: LoggedEvent, parts: Part[], more: Partial<Message> = {}): void {
    const { seq, thread, event } = entry;
    this.begin({ id: event.id, role, thread, turn: this.turn, seq, created_at: event.processed_at, parts, ...more });
  }

  /** Adds an action of the agent to its open message. */
  addToAgent(entry: LoggedEvent, part: Part): void {
    const place = this.#line(entry.thread).open;
    if (place === undefined) this.beginWith("agent", entry, [part]);
    else this.#append(place, part);
  }

  /** Adds another event to the agent's open message, else to a message of the session. */
  addBeside(entry: LoggedEvent, part: Part): void {
    const place = this.#placeBeside(entry.thread);
    if (place === undefined) this.beginWith("session", entry, [part]);
    else this.#append(place, part);
  }

  /** The last part at the position where `addBeside` would add one. */
  lastBeside(thread: string | null): Part | undefined {
    const place = this.#placeBeside(thread);
    return place === undefined ? undefined : this.messages[place]!.parts.at(-1);
  }

  /** The part of that type in the agent's open message. */
  inOpenMessage<T extends Part["type"]>(thread: string | null, type: T): PartOf<T> | undefined {
    const place = this.#line(thread).open;
    if (place === undefined) return undefined;
    return this.messages[place]!.parts.find((part): part is PartOf<T> => part.type === type);
  }

  has(partId: string): boolean {
    return this.#placeOfPart.has(partId);
  }

  find<T extends Part["type"]>(type: T, id: string): PartOf<T> | undefined {
    const place = this.#placeOfPart.get(id);
    if (place === undefined) return undefined;
    return this.messages[place]!.parts.find((part): part is PartOf<T> => part.id === id && part.type === type);
  }

  findByToolUse(toolUseId: string): PartOf<"tool"> | undefined {
    return this.find("tool", this.#partByToolUse.get(toolUseId) ?? toolUseId);
  }

  /** Replaces the part with the same id. */
  replace(part: Part): void {
    const place = this.#placeOfPart.get(part.id);
    if (place === undefined) return;
    const message = this.messages[place]!;
    const parts = message.parts.map((old) => (old.id === part.id ? part : old));
    this.messages[place] = { ...message, parts };
  }

  hasMessage(id: string): boolean {
    return this.#placeOfMessage.has(id);
  }

  /** Removes a message from its turn because the model never saw it; returns false if it is unknown. */
  drop(id: string, reason: string): boolean {
    const place = this.#placeOfMessage.get(id);
    if (place === undefined) return false;
    this.messages[place] = { ...this.messages[place]!, turn: null, delivery: { type: "dropped", reason } };
    if (this.turn === id) this.endTurn();
    return true;
  }

  /** Marks a message and the following ones as rewound. If the message precedes this fold, marks all. */
  rewind(toMessage: string, by: string): void {
    const from = this.#placeOfMessage.get(toMessage) ?? 0;
    for (let place = from; place < this.messages.length; place += 1) {
      const message = this.messages[place]!;
      if (message.rewound === undefined) this.messages[place] = { ...message, rewound: by };
    }
  }

  undoRewind(by: string): void {
    this.messages.forEach((message, place) => {
      if (message.rewound !== by) return;
      const { rewound: _, ...rest } = message;
      this.messages[place] = rest;
    });
  }

  placeOfOpen(thread: string | null): number | undefined {
    return this.#lines.get(thread)?.open;
  }

  /** The thread of a part; undefined if there is no such part. */
  threadOf(partId: string): string | null | undefined {
    const place = this.#placeOfPart.get(partId);
    return place === undefined ? undefined : this.messages[place]!.thread;
  }

  placeOf(partId: string): number | undefined {
    return this.#placeOfPart.get(partId);
  }

  close(thread: string | null): void {
    this.#line(thread).open = undefined;
  }

  beginTurn(id: string): void {
    this.turn = id;
    this.idle = false;
    this.#changed.clear();
  }

  endTurn(): void {
    this.turn = null;
    this.idle = true;
    this.#changed.clear();
    for (const line of this.#lines.values()) line.open = undefined;
  }

  recordPatch({ path, kind, hunks }: FilePatch, toolPart: string): void {
    const lines = hunks.flatMap((hunk) => hunk.lines);
    const count = (sign: string): number => lines.filter((line) => line.startsWith(sign)).length;
    const before = this.#changed.get(path) ?? { path, kind, added: 0, removed: 0, tools: [] };
    // Hunks of a new file are not stored.
    const added = before.added === null || hunks.length === 0 ? null : before.added + count("+");
    const removed = before.removed + count("-");
    this.#changed.set(path, { ...before, added, removed, tools: [...before.tools, toolPart] });
  }

  /** Files that the turn's tools have changed so far. */
  get changedFiles(): ChangedFile[] {
    return [...this.#changed.values()];
  }

  #placeBeside(thread: string | null): number | undefined {
    const { open, last } = this.#line(thread);
    if (open !== undefined) return open;
    const message = last === undefined ? undefined : this.messages[last]!;
    return message?.role === "session" && message.turn === this.turn ? last : undefined;
  }

  #append(place: number, part: Part): void {
    const message = this.messages[place]!;
    this.messages[place] = { ...message, parts: [...message.parts, part] };
    this.#index(part, place);
  }

  #index(part: Part, place: number): void {
    this.#placeOfPart.set(part.id, place);
    if (part.type === "tool" && part.tool_use_id !== undefined) this.#partByToolUse.set(part.tool_use_id, part.id);
  }

  #line(thread: string | null): Line {
    let line = this.#lines.get(thread);
    if (!line) this.#lines.set(thread, (line = {}));
    return line;
  }
}
