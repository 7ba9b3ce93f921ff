import {
  type Document,
  isMap,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  type Scalar,
  stringify,
  type YAMLMap,
  type YAMLSeq,
} from "yaml";
import type { ConfigValue } from "./config-value.ts";

/** Sets a value, or with `value: undefined` removes the key. */
export interface Edit {
  path: string;
  value: ConfigValue | undefined;
}

type Place = { pair: Pair<Scalar> | undefined; parent: YAMLMap<Scalar>; rest: string[] };

/**
 * Changes values in the text of a YAML file and leaves every other byte as the user wrote it. An edit that cannot be made
 * by changing single lines (an inline section, say) is made by the yaml package, which keeps comments but tidies spacing.
 * Either way the result is read again and holds exactly the old values plus the edits, or the edit is refused.
 */
export function editConfig(source: string, edits: readonly Edit[]): string {
  return edits.reduce((text, edit) => {
    const document = parseDocument(text);
    const before = JSON.stringify(valueIn(document, edit.path));
    if (before === JSON.stringify(edit.value)) return text;
    apply(document, edit);
    const expected = canonical(document.toJS());
    for (const candidate of [splice(text, edit), String(document)]) {
      if (candidate !== undefined && holds(candidate, expected)) return candidate;
    }
    throw new Error(`The edit of ${edit.path} could not be made.`);
  }, source);
}

function apply(document: Document, { path, value }: Edit): void {
  const names = path.split(".");
  if (value === undefined) {
    document.deleteIn(names);
    return;
  }
  // A section that is there but empty reads as null, into which nothing can be set.
  for (let depth = 0; depth < names.length; depth++) {
    const parent = names.slice(0, depth);
    if (!isMap(depth === 0 ? document.contents : document.getIn(parent, true))) {
      if (depth === 0) document.contents = document.createNode({});
      else document.setIn(parent, document.createNode({}));
    }
  }
  const node = document.createNode(value, { flow: true });
  if (hasFields(value) && isSeq(node)) node.flow = false;
  document.setIn(names, node);
}

function valueIn(document: Document, path: string): unknown {
  const value: unknown = document.getIn(path.split("."));
  return isSeq(value) ? value.toJSON() : value;
}

function holds(text: string, expected: string): boolean {
  const document = parseDocument(text);
  return document.errors.length === 0 && canonical(document.toJS()) === expected;
}

/** Equal for equal settings, whatever their order; an empty section equals none. */
const canonical = (value: unknown): string => JSON.stringify(prune(value)) ?? "";

function prune(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value ?? undefined;
  const entries = Object.entries(value)
    .map(([key, child]) => [key, prune(child)] as const)
    .filter(([, child]) => child !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** The text with only the lines changed that the edit needs, or undefined if the text is not laid out for that. */
function splice(text: string, { path, value }: Edit): string | undefined {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const document = parseDocument(text);
  const names = path.split(".");
  if (!isMap(document.contents)) {
    if (document.contents !== null && !isNull(document.contents)) return undefined;
    return insertAt(text, text.length, block(names, value, 0, newline), newline);
  }
  const place = locate(document.contents as Place["parent"], names);
  if (value === undefined) return place.rest.length === 0 ? removeLines(text, place.pair!) : text;
  if (place.rest.length === 0) return replaceValue(text, place.pair!, value);

  if (place.pair) {
    // The section is there, without keys: they go below its line.
    const column = columnOf(text, place.pair.key.range![0]);
    const end = lineEnd(text, place.pair.key.range![1]);
    return insertAt(text, end, block(place.rest, value, column + 2, newline), newline);
  }
  if (place.parent.flow) return undefined;
  // A new section goes to the end: what follows the last one may be a comment that belongs to it.
  if (place.rest.length === names.length) {
    return insertAt(text, text.length, block(place.rest, value, 0, newline), newline);
  }
  const last = place.parent.items.at(-1)!;
  const column = columnOf(text, place.parent.items[0]!.key.range![0]);
  const end = pastComments(text, lineEnd(text, endOf(last)), column);
  return insertAt(text, end, block(place.rest, value, column, newline), newline);
}

/** Follows `names` down as far as the file goes: `rest` is what is missing, `pair` the key it would go below. */
function locate(root: Place["parent"], names: string[]): Place {
  let parent = root;
  for (const [depth, name] of names.entries()) {
    const pair = parent.items.find((item) => item.key.value === name);
    if (!pair) return { pair: undefined, parent, rest: names.slice(depth) };
    const rest = names.slice(depth + 1);
    if (rest.length === 0 || !isMap(pair.value)) return { pair, parent, rest };
    parent = pair.value as Place["parent"];
  }
  throw new Error("unreachable: a path has at least one name");
}

function replaceValue(text: string, pair: Pair<Scalar>, value: NonNullable<Edit["value"]>): string | undefined {
  const node: unknown = pair.value;
  if (isSeq(node)) return replaceList(text, pair, node, value);
  if (!isScalar(node)) return undefined;
  if (isNull(node)) {
    const colon = text.indexOf(":", pair.key.range![1]) + 1;
    return `${text.slice(0, colon)} ${scalar(value)}${text.slice(colon)}`;
  }
  const [start, end] = node.range!;
  return text.slice(0, start) + scalar(value) + text.slice(end);
}

/** A list that stands in lines of its own comes up to the line of its key. */
function replaceList(text: string, pair: Pair<Scalar>, list: YAMLSeq, value: ConfigValue): string | undefined {
  const [start, end] = list.range!;
  if (hasFields(value)) return undefined;
  if (list.flow) return text.slice(0, start) + scalar(value) + text.slice(end);
  const colon = text.indexOf(":", pair.key.range![1]) + 1;
  const last = (list.items.at(-1) as Scalar).range![1];
  return `${text.slice(0, colon)} ${scalar(value)}${text.slice(last)}`;
}

function removeLines(text: string, pair: Pair<Scalar>): string {
  const start = text.lastIndexOf("\n", pair.key.range![0] - 1) + 1;
  return text.slice(0, start) + text.slice(lineEnd(text, endOf(pair)));
}

/** `a: {b: 1}` as a block at `column`. */
function block(names: readonly string[], value: Edit["value"], column: number, newline: string): string {
  return names
    .map((name, depth) => {
      const indent = " ".repeat(column + 2 * depth);
      return `${indent}${name}:${depth === names.length - 1 ? written(value, indent.length, newline) : ""}${newline}`;
    })
    .join("");
}

function insertAt(text: string, offset: number, lines: string, newline: string): string {
  const before = text.slice(0, offset);
  return before + (before === "" || before.endsWith("\n") ? "" : newline) + lines + text.slice(offset);
}

/** Where the line after the one that holds the end of something begins. */
function lineEnd(text: string, offset: number): number {
  if (text[offset - 1] === "\n") return offset;
  const newline = text.indexOf("\n", offset);
  return newline === -1 ? text.length : newline + 1;
}

/** Comments that are indented deeper than a new key belong to the section above it. */
function pastComments(text: string, offset: number, column: number): number {
  const comment = /^( *)#.*(\n|$)/.exec(text.slice(offset));
  if (!comment || comment[1]!.length <= column) return offset;
  return pastComments(text, offset + comment[0].length, column);
}

function endOf(pair: Pair<Scalar>): number {
  if (isMap(pair.value) && !pair.value.flow && pair.value.items.length > 0) {
    return endOf(pair.value.items.at(-1) as Pair<Scalar>);
  }
  const range = isScalar(pair.value) && isNull(pair.value) ? pair.key.range : (pair.value as Scalar).range;
  return range![1];
}

/** Entries with fields of their own stand in a line each. */
const hasFields = (value: unknown): value is readonly object[] => Array.isArray(value) && typeof value[0] === "object";

function written(value: unknown, column: number, newline: string): string {
  if (!hasFields(value)) return ` ${scalar(value)}`;
  return value.map((entry) => `${newline}${" ".repeat(column + 2)}- ${scalar(entry)}`).join("");
}

const columnOf = (text: string, offset: number) => offset - (text.lastIndexOf("\n", offset - 1) + 1);
const scalar = (value: unknown) =>
  stringify(value, { lineWidth: 0, collectionStyle: "flow", flowCollectionPadding: false }).trimEnd();
const isNull = (node: unknown) => isScalar(node) && node.value === null;
