import { lexer, type Token } from "marked";
import { QuickTokenizer } from "./quick-tokenizer.ts";

/** The last blocks of a growing text can still change: a paragraph may become a table, a list may grow. */
const OPEN_BLOCKS = 2;

/** Parses a streaming Markdown text incrementally. Finished blocks are neither parsed nor rendered again. */
export class LiveBlocks {
  #text = "";
  #blocks: readonly Token[] = [];
  /** Number and total length of the finished blocks. */
  #done = 0;
  #length = 0;

  read(input: string): readonly Token[] {
    const text = input.replaceAll("\r\n", "\n");
    if (text === this.#text) return this.#blocks;
    if (text.startsWith(this.#text)) this.#finish();
    else this.#done = this.#length = 0;
    const open = lexer(ownCopy(text.slice(this.#length)), { gfm: true, tokenizer: new QuickTokenizer() });
    this.#blocks = [...this.#blocks.slice(0, this.#done), ...open];
    this.#text = text;
    return this.#blocks;
  }

  #finish(): void {
    let open = OPEN_BLOCKS;
    let end = this.#blocks.length;
    while (end > this.#done && open > 0) {
      end -= 1;
      if (this.#blocks[end]!.type !== "space") open -= 1;
    }
    const raw = this.#blocks
      .slice(this.#done, end)
      .map((block) => block.raw)
      .join("");
    // The parser may normalize its input (tabs, for example). Lengths do not match then, so parse everything again.
    if (!this.#text.startsWith(raw, this.#length)) return;
    this.#done = end;
    this.#length += raw.length;
  }
}

/**
 * Copies the string. A substring keeps its whole source string in memory, so the blocks would keep one copy of the text
 * per update.
 */
const ownCopy = (text: string): string => ` ${text}`.slice(1);
