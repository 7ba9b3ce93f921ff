import { endOfPreviews } from "./project-previews.ts";
import type { Delta, LiveDelta, LoggedEvent } from "../events/session-event.ts";

type Beginning = Extract<Delta, { type: "event_start" | "tandem.tool_input_start" }>;
type Piece = Extract<Delta, { type: "event_delta" | "tandem.thinking_delta" | "tandem.tool_input_delta" }>;

interface Standing {
  thread: LiveDelta["thread"];
  start: Beginning;
  /** Merged as far as possible. */
  pieces: Piece[];
  /** True if the preview exceeded the session's capacity; late subscribers then see none of it. */
  isTorn: boolean;
}

/** The capacity per session, larger than any model response. */
const MOST_CHARACTERS = 1_000_000;

/** Previews of events that are not logged yet, so that late subscribers see the partial response. Its size is bounded. */
export class StandingPreviews {
  readonly #most: number;
  readonly #standing = new Map<string, Standing>();
  #characters = 0;

  constructor(mostCharacters: number = MOST_CHARACTERS) {
    this.#most = mostCharacters;
  }

  get isEmpty(): boolean {
    return this.#standing.size === 0;
  }

  /** The deltas for a new subscriber: each preview from its start, merged. */
  get deltas(): LiveDelta[] {
    return [...this.#standing.values()]
      .filter(({ isTorn }) => !isTorn)
      .flatMap(({ thread, start, pieces }) => [start, ...pieces].map((delta) => ({ thread, delta })));
  }

  /** Events whose start was not stored; new subscribers get no preview of them. */
  get torn(): string[] {
    return [...this.#standing].filter(([, { isTorn }]) => isTorn).map(([id]) => id);
  }

  /** Whether a preview of the event has begun. */
  has(id: string): boolean {
    return this.#standing.has(id);
  }

  apply({ thread, delta }: LiveDelta): void {
    switch (delta.type) {
      case "event_start":
        return this.#begin(delta.event.id, thread, delta);
      case "tandem.tool_input_start":
        return this.#begin(delta.event_id, thread, delta);
      case "event_delta":
      case "tandem.thinking_delta":
      case "tandem.tool_input_delta":
        return this.#extend(delta);
      case "tandem.tool_progress":
    }
  }

  /** Drops previews that an event replaces or abandons. */
  settle(entry: Pick<LoggedEvent, "thread" | "event">): void {
    if (this.isEmpty) return;
    this.#end(entry.event.id);
    const ended = endOfPreviews(entry);
    if (ended === "all") this.clear();
    else if (ended) for (const [id, { thread }] of this.#standing) if (thread === ended.thread) this.#end(id);
  }

  clear(): void {
    this.#standing.clear();
    this.#characters = 0;
  }

  #begin(id: string, thread: LiveDelta["thread"], start: Beginning): void {
    this.#end(id);
    // Each preview counts at least one character, so that many unfinished ones stay bounded.
    this.#characters += 1;
    this.#standing.set(id, { thread, start, pieces: [], isTorn: false });
    this.#makeRoom();
  }

  #extend(piece: Piece): void {
    const standing = this.#standing.get(piece.event_id);
    if (!standing || standing.isTorn) return;
    const last = standing.pieces.at(-1);
    const joined = last && join(last, piece);
    if (joined) standing.pieces[standing.pieces.length - 1] = joined;
    else standing.pieces.push(piece);
    this.#characters += lengthOf(piece);
    this.#makeRoom();
  }

  /** Evict the oldest first: they are most likely abandoned. */
  #makeRoom(): void {
    for (const standing of this.#standing.values()) {
      if (this.#characters <= this.#most) return;
      if (standing.isTorn) continue;
      this.#characters -= weightOf(standing);
      standing.pieces = [];
      standing.isTorn = true;
    }
  }

  #end(id: string): void {
    const standing = this.#standing.get(id);
    if (!standing) return;
    if (!standing.isTorn) this.#characters -= weightOf(standing);
    this.#standing.delete(id);
  }
}

const textOf = (piece: Piece): string => {
  switch (piece.type) {
    case "event_delta":
      return piece.delta.content.text;
    case "tandem.thinking_delta":
      return piece.text;
    case "tandem.tool_input_delta":
      return piece.json;
  }
};

const lengthOf = (piece: Piece): number => textOf(piece).length;

const weightOf = ({ pieces }: Standing): number => pieces.reduce((sum, piece) => sum + lengthOf(piece), 1);

/** Merges two pieces of one content block; undefined otherwise. */
function join(first: Piece, second: Piece): Piece | undefined {
  if (first.type === "event_delta" && second.type === "event_delta") {
    if ((first.delta.index ?? 0) !== (second.delta.index ?? 0)) return undefined;
    const content = { ...first.delta.content, text: first.delta.content.text + second.delta.content.text };
    return { ...first, delta: { ...first.delta, content } };
  }
  if (first.type === "tandem.thinking_delta" && second.type === first.type)
    return { ...first, text: first.text + second.text };
  if (first.type === "tandem.tool_input_delta" && second.type === first.type)
    return { ...first, json: first.json + second.json };
  return undefined;
}
