import type { ShellWord } from "./shell-word.ts";

/**
 * The options of a program that neither run other code nor write to a file that no word names. Every other option asks:
 * releases add options, and many programs accept abbreviations of them.
 */
export interface OptionTable {
  /** Letters of short options without a value. */
  flags?: string;
  /** Letters of short options with a value, in the same word or the next one. */
  values?: string;
  /** Letters of short options whose value may only follow in the same word. */
  glued?: string;
  /** Names of long options: `name`; `name=` with a value; `name[=]` with an optional one. */
  long?: string;
  /** Options of several letters after one dash, written like `long`: `-name=` of find, `-run=` of go. */
  words?: string;
  /** `-5` is an option. */
  numbers?: true;
  /** No option of this program, in any of its implementations, runs code or writes. */
  everyOption?: true;
  /** After this many operands, all words belong to what they name: 1 for `python3 x.py --any`. */
  stopsAfter?: number;
  /** Values that an option accepts, by letter or name. */
  accepts?: Readonly<Record<string, (value: string) => boolean>>;
  /** Whether an operand is harmless; `seen` holds the letters and names of the options before it. */
  operand?: (text: string, position: number, seen: ReadonlySet<string>) => boolean;
  /** The first operand is one of these subcommands, which has options of its own. */
  subcommands?: Readonly<Record<string, OptionTable>>;
}

type Takes = "nothing" | "a value" | "maybe a value";

/** Returns the indexes of words that the table does not list. */
export function unlistedWords(words: readonly ShellWord[], table: OptionTable, from = 1): number[] {
  return new WordCheck(words, table, from).run();
}

class WordCheck {
  readonly #words: readonly ShellWord[];
  readonly #table: OptionTable;
  readonly #unlisted: number[] = [];
  readonly #seen = new Set<string>();
  #at: number;
  #position = 0;
  #takesOptions = true;

  constructor(words: readonly ShellWord[], table: OptionTable, from: number) {
    this.#words = words;
    this.#table = table;
    this.#at = from;
  }

  run(): number[] {
    for (; this.#at < this.#words.length; this.#at += 1) {
      const word = this.#words[this.#at]!;
      const { text } = word;
      if (text === undefined || (word.glob && /^[*?[]/.test(text))) this.#unknown(word);
      else if (this.#takesOptions && text === "--") this.#takesOptions = false;
      else if (this.#takesOptions && /^-./.test(text)) this.#option(text);
      else if (this.#table.subcommands && this.#position === 0) return this.#subcommand(text, this.#table.subcommands);
      else this.#operand(text);
    }
    return this.#unlisted;
  }

  #subcommand(text: string, subcommands: NonNullable<OptionTable["subcommands"]>): number[] {
    const table = Object.hasOwn(subcommands, text) ? subcommands[text] : undefined;
    if (table) return [...this.#unlisted, ...unlistedWords(this.#words, table, this.#at + 1)];
    this.#refuse();
    // A rule that names the subcommand does not allow its options.
    for (let at = this.#at + 1; at < this.#words.length; at += 1) {
      if (/^["']?-/.test(this.#words[at]!.text ?? this.#words[at]!.source)) this.#unlisted.push(at);
    }
    return this.#unlisted;
  }

  /** A variable, or a glob that may expand to `-x`. */
  #unknown({ source }: ShellWord): void {
    const { everyOption, operand, subcommands } = this.#table;
    const isOperand = !this.#takesOptions || everyOption === true || /^"[\w./~][^"]*"$/.test(source);
    if (!isOperand || operand || (subcommands && this.#position === 0)) this.#refuse();
    this.#countOperand();
  }

  #operand(text: string): void {
    if (this.#table.operand && !this.#table.operand(text, this.#position, this.#seen)) this.#refuse();
    this.#countOperand();
  }

  #countOperand(): void {
    this.#position += 1;
    if (this.#position === this.#table.stopsAfter) this.#takesOptions = false;
  }

  #option(text: string): void {
    const { everyOption, words, numbers } = this.#table;
    if (everyOption || (numbers && /^-\d+$/.test(text))) return;
    if (text.startsWith("--")) this.#named(text, 2, this.#table.long);
    else if (words !== undefined) this.#named(text, 1, words);
    else this.#letters(text);
  }

  #named(text: string, dashes: number, listed = ""): void {
    const end = text.indexOf("=");
    const name = text.slice(dashes, end === -1 ? undefined : end);
    const takes = takenBy(name, listed);
    if (takes === undefined || (takes === "nothing" && end !== -1)) return this.#refuse();
    this.#seen.add(name);
    if (end !== -1) this.#value(name, text.slice(end + 1));
    else if (takes === "a value") this.#nextValue(name);
  }

  #letters(text: string): void {
    const { flags = "", values = "", glued = "" } = this.#table;
    for (let at = 1; at < text.length; at += 1) {
      const letter = text[at]!;
      if (values.includes(letter)) {
        this.#seen.add(letter);
        if (at < text.length - 1) this.#value(letter, text.slice(at + 1));
        else this.#nextValue(letter);
        return;
      }
      if (!flags.includes(letter) && !glued.includes(letter)) return this.#refuse();
      this.#seen.add(letter);
      if (glued.includes(letter)) return this.#value(letter, text.slice(at + 1));
    }
  }

  #nextValue(name: string): void {
    const next = this.#words[this.#at + 1];
    if (!next) return;
    this.#at += 1;
    // An unquoted variable or glob may become several words.
    const isOne = next.text !== undefined ? !next.glob : next.source.startsWith('"');
    if (!isOne) this.#refuse();
    else if (next.text !== undefined) this.#value(name, next.text);
    else if (this.#accepts(name)) this.#refuse();
  }

  #value(name: string, value: string): void {
    if (this.#accepts(name)?.(value) === false) this.#refuse();
  }

  #accepts(name: string): ((value: string) => boolean) | undefined {
    const { accepts = {} } = this.#table;
    return Object.hasOwn(accepts, name) ? accepts[name] : undefined;
  }

  #refuse(): void {
    this.#unlisted.push(this.#at);
  }
}

function takenBy(name: string, listed: string): Takes | undefined {
  const names = listed.split(/\s+/);
  if (name === "") return undefined;
  if (names.includes(name)) return "nothing";
  if (names.includes(`${name}=`)) return "a value";
  return names.includes(`${name}[=]`) ? "maybe a value" : undefined;
}
