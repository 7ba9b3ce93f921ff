import { lexer, type Token } from "marked";
import { QuickTokenizer } from "./quick-tokenizer.ts";

/** The last blocks of a text that grows may still become something else: a paragraph a table, a list a longer one. */
const OPEN_BLOCKS = 2;

/** The blocks of a text that is being written: those that cannot change any more are neither read nor made again. */
export class LiveBlocks {
  #text = "";
  #blocks: readonly Token[] = [];

  read(input: string): readonly Token[] {
    const text = input.replaceAll("\r\n", "\n");
    if (text === this.#text) return this.#blocks;
    const frozen = text.startsWith(this.#text) ? this.#frozen() : [];
    const from = frozen.reduce((length, { raw }) => length + raw.length, 0);
    this.#blocks = [...frozen, ...lexer(text.slice(from), { gfm: true, tokenizer: new QuickTokenizer() })];
    this.#text = text;
    return this.#blocks;
  }

  #frozen(): readonly Token[] {
    let open = OPEN_BLOCKS;
    let end = this.#blocks.length;
    while (end > 0 && open > 0) {
      end -= 1;
      if (this.#blocks[end]!.type !== "space") open -= 1;
    }
    const frozen = this.#blocks.slice(0, end);
    // Whoever changes what it read (tabs, say) cannot be cut by length: then all of it is read again.
    const length = frozen.reduce((sum, { raw }) => sum + raw.length, 0);
    return this.#text.slice(0, length) === frozen.map(({ raw }) => raw).join("") ? frozen : [];
  }
}
