import { endOfPreviews } from "./project-previews.ts";
import type { Delta, LiveDelta, LoggedEvent } from "../events/session-event.ts";

type Beginning = Extract<Delta, { type: "event_start" | "tandem.tool_input_start" }>;
type Piece = Extract<Delta, { type: "event_delta" | "tandem.thinking_delta" | "tandem.tool_input_delta" }>;

interface Standing {
  thread: LiveDelta["thread"];
  start: Beginning;
  /** As few as say it all. */
  pieces: Piece[];
  /** Longer than what is kept of one session: whoever has not seen all of it sees none. */
  isTorn: boolean;
}

/** More than any answer of a model: about a million characters for all that a session is producing at once. */
const MOST_CHARACTERS = 1_000_000;

/**
 * What has been previewed of events that are not in the log yet, so that who comes in the middle of an answer sees what
 * there is of it. It holds no more than so many characters, whatever comes.
 */
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

  /** For who comes now: each preview from its beginning, with all that there is of it in one piece. */
  get deltas(): LiveDelta[] {
    return [...this.#standing.values()]
      .filter(({ isTorn }) => !isTorn)
      .flatMap(({ thread, start, pieces }) => [start, ...pieces].map((delta) => ({ thread, delta })));
  }

  /** The events of which who comes now is to see no preview, for its beginning was not kept. */
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

  /** Lets go of what an event stands for, or says will not come. */
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
    // Where a great many begin and none ends, each counts for something.
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

  /** The oldest go first: they are the most likely to have been broken off. */
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

/** Both as one; undefined where they are not of one content block. */
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
