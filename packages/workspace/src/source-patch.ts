import {
  Document,
  isAlias,
  isCollection,
  isNode,
  isPair,
  isScalar,
  isSeq,
  type Pair,
  visit,
  YAMLMap,
  YAMLSeq,
} from "yaml";

/** Keeps every field on one line, so that a line of a diff is a field. */
export const YAML_LAYOUT = { lineWidth: 0, flowCollectionPadding: false, verifyAliasOrder: false } as const;

interface Parsed {
  items: readonly unknown[];
  isFlow: boolean;
}

interface Splice {
  start: number;
  end: number;
  text: string;
  /** Whether the text has to begin on a line of its own. */
  isLines?: boolean;
}

/**
 * Records a parsed document before it is edited, and turns the edits into splices of its source text. The result is a
 * best effort: the caller checks that it parses to the edited document.
 */
export class SourcePatch {
  readonly #source: string;
  readonly #newline: string;
  readonly #contents: unknown;
  readonly #collections = new Map<unknown, Parsed>();
  /** The values of pairs and of scalars. */
  readonly #values = new Map<unknown, unknown>();
  readonly #splices: Splice[] = [];

  constructor(source: string, document: Document) {
    this.#source = source;
    this.#newline = source.includes("\r\n") ? "\r\n" : "\n";
    this.#contents = document.contents;
    visit(document, {
      Collection: (_, node) => void this.#collections.set(node, { items: [...node.items], isFlow: node.flow === true }),
      Pair: (_, pair) => void this.#values.set(pair, pair.value),
      Scalar: (_, scalar) => void this.#values.set(scalar, scalar.value),
    });
  }

  apply({ contents }: Document): string {
    if (contents === this.#contents && !this.#isRestyled(contents)) this.#update(contents, true);
    else if (isBlank(this.#contents)) this.#insertLines(this.#source.length, print(contents), 0);
    else this.#splice(...rangeOf(this.#contents), print(contents));
    return this.#spliced();
  }

  #update(node: unknown, isRoot = false): void {
    const parsed = this.#collections.get(node);
    if (!parsed) {
      if (isScalar(node) && node.value !== this.#values.get(node)) this.#splice(...rangeOf(node), printInline(node));
    } else if (!parsed.isFlow) {
      this.#updateItems(node, parsed.items, isRoot);
    } else if (this.#isChanged(node)) {
      this.#splice(...rangeOf(node), printInline(node));
    }
  }

  #updateItems(collection: unknown, before: readonly unknown[], isRoot: boolean): void {
    if (!isCollection(collection)) return;
    const kept = keptItems(before, collection.items);
    for (const item of before) {
      if (!kept.has(item)) this.#removeLines(item);
      else if (!isPair(item)) this.#update(item);
      else if (item.value === this.#values.get(item) && !this.#isRestyled(item.value)) this.#update(item.value);
      else this.#replaceValue(item);
    }
    const column = this.#columnOf(before[0]);
    const lastKept = collection.items.findLastIndex((item) => kept.has(item));
    let previous: unknown;
    for (const [index, item] of collection.items.entries()) {
      if (kept.has(item)) {
        previous = item;
        continue;
      }
      const text = print(isSeq(collection) ? listOf(item) : mapOf(item));
      if (index < lastKept) {
        const next = collection.items.find((other) => kept.has(other));
        this.#insertLines(previous ? this.#endOfLines(previous) : this.#startOfLines(next), text, column);
      } else if (isRoot) {
        // Comments at the end of the file may belong to its last section.
        this.#insertLines(this.#source.length, text, column);
      } else {
        this.#insertLines(this.#skipComments(this.#endOfLines(before.at(-1)), column), text, column);
      }
    }
  }

  #replaceValue(pair: Pair): void {
    const before = this.#values.get(pair);
    const parsed = this.#collections.get(before);
    const keyEnd = rangeOf(pair.key)[1];
    const afterColon = this.#source.indexOf(":", keyEnd) + 1;
    if (parsed && !parsed.isFlow && isBlank(pair.value)) {
      for (const item of parsed.items) this.#removeLines(item);
    } else if (!isInline(pair.value)) {
      const column = this.#columnOf(pair);
      if (isBlank(before)) this.#insertLines(this.#endOfLine(keyEnd), print(pair.value), column + 2);
      else this.#splice(rangeOf(pair.key)[0], this.#end(pair), indent(print(mapOf(pair)), column).trimStart());
    } else if (parsed && !parsed.isFlow) {
      this.#splice(afterColon, this.#end(pair), ` ${printInline(pair.value)}`);
    } else if (isBlank(before)) {
      this.#splice(afterColon, afterColon, ` ${printInline(pair.value)}`);
    } else {
      this.#splice(...rangeOf(before), printInline(pair.value));
    }
  }

  #isChanged(node: unknown): boolean {
    if (isPair(node)) return node.value !== this.#values.get(node) || this.#isChanged(node.value);
    if (isScalar(node)) return node.value !== this.#values.get(node);
    const parsed = this.#collections.get(node);
    if (!parsed || !isCollection(node)) return !isAlias(node);
    const { items } = node;
    return (
      items.length !== parsed.items.length || items.some((item, i) => item !== parsed.items[i] || this.#isChanged(item))
    );
  }

  /** Whether a changed collection goes from one line to lines of its own. */
  #isRestyled(node: unknown): boolean {
    return this.#collections.get(node)?.isFlow === true && !isInline(node) && this.#isChanged(node);
  }

  #removeLines(item: unknown): void {
    this.#splice(this.#startOfLines(item), this.#endOfLines(item), "");
  }

  #insertLines(at: number, text: string, column: number): void {
    this.#splices.push({ start: at, end: at, text: `${indent(text, column)}\n`, isLines: true });
  }

  #splice(start: number, end: number, text: string): void {
    const isLine = text !== "" && this.#source[end - 1] === "\n";
    this.#splices.push({ start, end, text: isLine ? `${text}\n` : text });
  }

  #spliced(): string {
    let result = "";
    let at = 0;
    for (const { start, end, text, isLines } of this.#splices.toSorted((a, b) => a.start - b.start || a.end - b.end)) {
      result += this.#source.slice(at, start);
      if (isLines && result !== "" && !result.endsWith("\n")) result += this.#newline;
      result += text.replaceAll("\n", this.#newline);
      at = end;
    }
    return result + this.#source.slice(at);
  }

  /** The offset at which an item of the parsed document ends, without its comment. */
  #end(item: unknown): number {
    if (isPair(item)) {
      const value = this.#values.get(item);
      return isBlank(value) ? rangeOf(item.key)[1] : this.#end(value);
    }
    const parsed = this.#collections.get(item);
    const last = parsed?.isFlow ? undefined : parsed?.items.at(-1);
    return last === undefined ? rangeOf(item)[1] : this.#end(last);
  }

  #startOfLines(item: unknown): number {
    return this.#source.lastIndexOf("\n", rangeOf(isPair(item) ? item.key : item)[0] - 1) + 1;
  }

  #endOfLines(item: unknown): number {
    return this.#endOfLine(this.#end(item));
  }

  #endOfLine(offset: number): number {
    if (this.#source[offset - 1] === "\n") return offset;
    const newline = this.#source.indexOf("\n", offset);
    return newline === -1 ? this.#source.length : newline + 1;
  }

  /** The column of a key, or of the dash before an item of a list. */
  #columnOf(item: unknown): number {
    const [start] = rangeOf(isPair(item) ? item.key : item);
    const line = this.#source.lastIndexOf("\n", start - 1) + 1;
    return isPair(item) ? start - line : this.#source.slice(line, start).lastIndexOf("-");
  }

  /** Comments that are indented deeper than a new key belong to the section above it. */
  #skipComments(offset: number, column: number): number {
    const comment = /^( *)#[^\n]*(\n|$)/.exec(this.#source.slice(offset));
    if (!comment || comment[1]!.length <= column) return offset;
    return this.#skipComments(offset + comment[0].length, column);
  }
}

/** The items that stay in their order. All others are removed or rewritten. */
function keptItems(before: readonly unknown[], after: readonly unknown[]): Set<unknown> {
  const positions = new Map(before.map((item, index) => [item, index]));
  const kept = new Set<unknown>();
  let last = -1;
  for (const item of after) {
    const position = positions.get(item) ?? -1;
    if (position <= last) continue;
    kept.add(item);
    last = position;
  }
  return kept;
}

function rangeOf(node: unknown): [start: number, end: number] {
  if (!isNode(node) || !node.range) throw new Error("The node is not part of the source.");
  return [node.range[0], node.range[1]];
}

const isBlank = (node: unknown): boolean =>
  node === null || node === undefined || (isScalar(node) && node.value === null && !node.source);

const isInline = (node: unknown): boolean =>
  isCollection(node) ? node.flow === true || node.items.length === 0 : !printInline(node).includes("\n");

function mapOf(item: unknown): YAMLMap {
  const map = new YAMLMap();
  map.items = [item as Pair];
  return map;
}

function listOf(item: unknown): YAMLSeq {
  const list = new YAMLSeq();
  list.items = [item];
  return list;
}

const print = (node: unknown): string => new Document(node).toString(YAML_LAYOUT).trimEnd();

/** The value alone: the source has its comment, anchor and tag already. */
function printInline(node: unknown): string {
  if (!isNode(node) || isAlias(node)) return print(node);
  const copy = node.clone() as typeof node;
  return print(Object.assign(copy, { comment: null, commentBefore: null, anchor: undefined, tag: undefined }));
}

const indent = (text: string, column: number): string => text.replaceAll(/^(?=.)/gm, " ".repeat(column));
