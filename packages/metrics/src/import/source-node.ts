import { isAlias, isMap, isScalar, isSeq, LineCounter, parseDocument } from "yaml";
import { MetricError } from "../metric-error.ts";
import type { Located, SourceText } from "./imported-project.ts";

interface SourceFile {
  readonly path: string;
  readonly lines: LineCounter;
}

/** A part of a YAML or JSON file that knows its line. */
export class SourceNode implements Located {
  readonly path: string;
  readonly line: number;
  readonly #node: unknown;
  readonly #place: SourceFile;

  constructor(node: unknown, place: SourceFile, line: number) {
    this.#node = node;
    this.#place = place;
    this.path = place.path;
    this.line = line;
  }

  /** The manifest says in which file and line a definition stands. */
  get at(): Located {
    const metadata = this.get("metadata");
    const path = metadata.textOf("repo_file_path");
    const line = Number(metadata.get("file_slice").textOf("start_line_number"));
    return path !== undefined && line > 0 ? { path, line } : { path: this.path, line: this.line };
  }

  get isMap(): boolean {
    return isMap(this.#node);
  }

  get isList(): boolean {
    return isSeq(this.#node);
  }

  get isNull(): boolean {
    return this.#node === null || this.#node === undefined || (isScalar(this.#node) && this.#node.value === null);
  }

  /** Keys whose values are not null or empty. */
  get keys(): string[] {
    if (!isMap(this.#node)) return [];
    return this.#node.items.flatMap((pair) => {
      const key = isScalar(pair.key) ? String(pair.key.value) : String(pair.key);
      return this.get(key).isEmpty ? [] : [key];
    });
  }

  get isEmpty(): boolean {
    if (this.isNull) return true;
    return (isMap(this.#node) || isSeq(this.#node)) && this.#node.items.length === 0;
  }

  get(key: string): SourceNode {
    if (!isMap(this.#node)) return new SourceNode(undefined, this.#place, this.line);
    const pair = this.#node.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
    if (!pair) return new SourceNode(undefined, this.#place, this.line);
    return new SourceNode(pair.value, this.#place, lineOf(pair.key, this.#place, this.line));
  }

  /** The elements of a list; none if it is missing. */
  get items(): SourceNode[] {
    if (!isSeq(this.#node)) return [];
    return this.#node.items.map((item) => new SourceNode(item, this.#place, lineOf(item, this.#place, this.line)));
  }

  /** The entries of a map. */
  get entries(): [string, SourceNode][] {
    return this.keys.map((key) => [key, this.get(key)]);
  }

  /** A text, number or boolean as text. Throws if it is a list or a map. */
  get text(): string | undefined {
    if (this.isNull) return undefined;
    if (!isScalar(this.#node)) throw new MetricError("invalid_expression", "A text is expected, not a list or a map.");
    const { value, source } = this.#node;
    // `1.0` stays `1.0`.
    return typeof value === "number" && source !== undefined ? source : String(value);
  }

  textOf(key: string): string | undefined {
    return this.get(key).text;
  }

  get isTrue(): boolean {
    return isScalar(this.#node) && this.#node.value === true;
  }

  get isFalse(): boolean {
    return isScalar(this.#node) && this.#node.value === false;
  }

  /** A text as a list of one. */
  get texts(): string[] {
    if (this.isList) return this.items.flatMap(({ text }) => text ?? []);
    return this.text === undefined ? [] : [this.text];
  }
}

const hasRange = (node: unknown): node is { range: readonly number[] } =>
  typeof node === "object" && node !== null && "range" in node && Array.isArray(node.range);

const lineOf = (node: unknown, { lines }: SourceFile, otherwise: number): number =>
  hasRange(node) ? lines.linePos(node.range[0]!).line : otherwise;

/** Parses a file. A reason as text if it is not YAML or JSON. */
export function readSource({ path, text }: SourceText): SourceNode | { reason: string; line: number } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, version: "1.2" });
  const [error] = document.errors;
  if (error) return { reason: error.message, line: lines.linePos(error.pos[0]).line };
  let aliased: unknown;
  const walk = (node: unknown): void => {
    if (isAlias(node)) aliased = node;
    else if (isMap(node)) node.items.forEach((pair) => walk(pair.value));
    else if (isSeq(node)) node.items.forEach(walk);
  };
  walk(document.contents);
  if (aliased !== undefined) {
    return {
      reason: "It uses YAML aliases (*name), which the import does not follow.",
      line: lineOf(aliased, { path, lines }, 1),
    };
  }
  return new SourceNode(document.contents, { path, lines }, 1);
}
