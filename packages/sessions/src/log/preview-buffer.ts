import { endOfPreviews, type Delta, type LiveDelta, type LoggedEvent } from "@tandem/protocol";

type Start = Extract<Delta, { type: "event_start" | "tandem.tool_input_start" }>;
type Piece = Extract<Delta, { type: "event_delta" | "tandem.thinking_delta" | "tandem.tool_input_delta" }>;

interface Preview {
  thread: LiveDelta["thread"];
  start: Start;
  /** Adjacent pieces of one content block are joined. */
  pieces: Piece[];
  /** Its text is not kept. New listeners skip the rest of it, because a preview must be shown from its start. */
  isTorn: boolean;
}

/** More than any answer of a model; shared by all events that a session produces at the same time. */
const MAX_CHARACTERS = 1_000_000;

/** The previews of a session's events that are not in the log yet, with a limit on their total size. */
export class PreviewBuffer {
  readonly #previews = new Map<string, Preview>();
  #characters = 0;

  get isEmpty(): boolean {
    return this.#previews.size === 0;
  }

  /** For a new listener: each preview from its start, in as few pieces as possible. */
  get deltas(): LiveDelta[] {
    return [...this.#previews.values()]
      .filter(({ isTorn }) => !isTorn)
      .flatMap(({ thread, start, pieces }) => [start, ...pieces].map((delta) => ({ thread, delta })));
  }

  /** The events whose previews a new listener must skip. */
  get torn(): string[] {
    return [...this.#previews].filter(([, { isTorn }]) => isTorn).map(([id]) => id);
  }

  has(id: string): boolean {
    return this.#previews.has(id);
  }

  apply({ thread, delta }: LiveDelta): void {
    switch (delta.type) {
      case "event_start":
        return this.#start(delta.event.id, thread, delta);
      case "tandem.tool_input_start":
        return this.#start(delta.event_id, thread, delta);
      case "event_delta":
      case "tandem.thinking_delta":
      case "tandem.tool_input_delta":
        return this.#extend(delta);
      case "tandem.tool_progress":
    }
  }

  /** Removes the previews that an event replaces or abandons. */
  settle(entry: Pick<LoggedEvent, "thread" | "event">): void {
    if (this.isEmpty) return;
    this.#end(entry.event.id);
    const ended = endOfPreviews(entry);
    if (ended === "all") this.clear();
    else if (ended) for (const [id, { thread }] of this.#previews) if (thread === ended.thread) this.#end(id);
  }

  /** Drops the text of all previews. They stay torn until their events settle them, even if they start again. */
  tear(): void {
    for (const preview of this.#previews.values()) this.#tear(preview);
  }

  clear(): void {
    this.#previews.clear();
    this.#characters = 0;
  }

  #start(id: string, thread: LiveDelta["thread"], start: Start): void {
    if (this.#previews.get(id)?.isTorn) return;
    this.#end(id);
    // An empty preview counts too, so that their number is limited.
    this.#characters += 1;
    this.#previews.set(id, { thread, start, pieces: [], isTorn: false });
    this.#makeRoom();
  }

  #extend(piece: Piece): void {
    const preview = this.#previews.get(piece.event_id);
    if (!preview || preview.isTorn) return;
    const last = preview.pieces.at(-1);
    const joined = last && join(last, piece);
    if (joined) preview.pieces[preview.pieces.length - 1] = joined;
    else preview.pieces.push(piece);
    this.#characters += lengthOf(piece);
    this.#makeRoom();
  }

  /** Starts with the oldest, which are the most likely to be abandoned. */
  #makeRoom(): void {
    for (const preview of this.#previews.values()) {
      if (this.#characters <= MAX_CHARACTERS) return;
      this.#tear(preview);
    }
  }

  #tear(preview: Preview): void {
    if (preview.isTorn) return;
    this.#characters -= weightOf(preview);
    preview.pieces = [];
    preview.isTorn = true;
  }

  #end(id: string): void {
    const preview = this.#previews.get(id);
    if (!preview) return;
    if (!preview.isTorn) this.#characters -= weightOf(preview);
    this.#previews.delete(id);
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

const weightOf = ({ pieces }: Preview): number => pieces.reduce((sum, piece) => sum + lengthOf(piece), 1);

/** Both as one; undefined if they belong to different content blocks. */
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
