import { lexer, type Token } from "marked";
import { QuickTokenizer } from "./quick-tokenizer.ts";

/** The last blocks of a text that grows may still become something else: a paragraph a table, a list a longer one. */
const OPEN_BLOCKS = 2;

/** The blocks of a text that is being written: those that cannot change any more are neither read nor made again. */
export class LiveBlocks {
  #text = "";
  #blocks: readonly Token[] = [];
  /** How many blocks are done, and how long they are together. */
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
    // Whoever changes what it read (tabs, say) cannot be cut by length: then it is read again.
    if (!this.#text.startsWith(raw, this.#length)) return;
    this.#done = end;
    this.#length += raw.length;
  }
}

/**
 * What is cut out of a string keeps all of it in memory: blocks that were cut out of a text each time that it grew would keep
 * as many copies of it as there are blocks.
 */
const ownCopy = (text: string): string => ` ${text}`.slice(1);
