type Value = string | number | boolean | null;

const LIST = /^( +samples: )\[(.*)\]$/gm;
const QUOTED = /"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'/y;
const PLAIN = /(?:-(?=\d)|[\p{L}\p{N}])[^,[\]{}#\t\n]*/uy;
const BETWEEN = / *(?:, *|$)/y;
const NUMBER = /^-?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?$/;
const WORDS = new Map<string, Value>(
  (["true", "false", "null"] as const).flatMap((word) =>
    [word, `${word[0]!.toUpperCase()}${word.slice(1)}`, word.toUpperCase()].map((spelling) => [
      spelling,
      JSON.parse(word) as Value,
    ]),
  ),
);

/**
 * The text of a table's file with a short text in place of each list of values, and those values. A YAML parser takes most of
 * its time for these lists, which are hundreds of values per column. Lists in another style than ours stay in the text.
 */
export function withoutSampleLists(text: string): { text: string; lists: Value[][] } {
  const lists: Value[][] = [];
  const short = text.replaceAll(LIST, (line, key: string, content: string) => {
    const values = readValues(content.trim());
    if (!values) return line;
    lists.push(values);
    return `${key}"${placeholder(lists.length - 1)}"`;
  });
  return { text: short, lists };
}

/** Puts the lists back where `samples` has its place in the text. */
export class SampleLists {
  readonly #lists: readonly Value[][];
  #used = 0;

  constructor(lists: readonly Value[][]) {
    this.#lists = lists;
  }

  /** Whether every list was found: otherwise one of them was part of another text. */
  get areComplete(): boolean {
    return this.#used === this.#lists.length;
  }

  revive = (key: unknown, value: unknown): unknown => {
    if (key !== "samples" || typeof value !== "string") return value;
    const at = this.#lists.findIndex((_, index) => placeholder(index) === value);
    if (at === -1) return value;
    this.#used += 1;
    return this.#lists[at];
  };
}

const placeholder = (at: number): string => `tandem samples ${at}`;

/** The values of a flow list on one line; undefined if only a YAML parser can read it. */
function readValues(content: string): Value[] | undefined {
  const values: Value[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(content)?.[0];
    if (found !== undefined) at = pattern.lastIndex;
    return found;
  };
  while (at < content.length) {
    const quoted = take(QUOTED);
    const plain = quoted === undefined ? take(PLAIN) : undefined;
    const value = quoted === undefined ? plainValue(plain?.trimEnd()) : quotedValue(quoted);
    if (value === undefined) return undefined;
    values.push(value);
    if (take(BETWEEN) === undefined) return undefined;
  }
  return values;
}

function quotedValue(text: string): Value | undefined {
  if (text.startsWith("'")) return text.slice(1, -1).replaceAll("''", "'");
  try {
    return JSON.parse(text) as string;
  } catch {
    // YAML has more escapes than JSON.
    return undefined;
  }
}

function plainValue(text: string | undefined): Value | undefined {
  // A colon before a space makes a map; octal and hexadecimal numbers are left to the parser.
  if (text === undefined || /: |:$|^0[ox]/i.test(text)) return undefined;
  if (NUMBER.test(text)) return Number(text);
  return WORDS.has(text) ? WORDS.get(text)! : text;
}
