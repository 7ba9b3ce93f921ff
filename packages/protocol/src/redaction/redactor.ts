import { OWN_SHAPES, shapesOfSecret, SHAPES, type CredentialShape } from "./credential-shapes.ts";
import { StartScanner } from "./start-scanner.ts";

/** Stands for a credential in everything that is stored or served. */
export const REDACTED = "[redacted]";

/** Shorter secrets would match ordinary words. */
const SHORTEST_SECRET = 8;

/** A credential in a text. */
interface Match {
  /** Where its format begins. The characters before `from` stay visible. */
  at: number;
  from: number;
  to: number;
  shape: CredentialShape;
}

/** Redacts one text that arrives in pieces. */
export interface StreamRedactor {
  /** Returns the text that can be shown. Characters that may begin a credential are held back. */
  push(piece: string): string;
  /** Returns the characters that were held back. */
  end(): string;
}

/**
 * Replaces credentials with a recognizable format, and the given secrets, by a placeholder. Works on strings, never on
 * serialised JSON: there, an escape such as `\n` may look like the begin of a credential.
 */
export class Redactor {
  readonly #scanner: StartScanner<CredentialShape>;
  readonly #shortest: number;
  /** Every text that a `start` may break off with. */
  readonly #starts: ReadonlySet<string>;
  readonly #longestStart: number;

  /** With `own`, only Tandem's tokens, Anthropic's keys and the secrets are redacted. */
  constructor(secrets: readonly string[] = [], formats: "all" | "own" = "all") {
    const known = secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap(shapesOfSecret);
    const shapes = [...known, ...(formats === "own" ? OWN_SHAPES : SHAPES)];
    this.#scanner = new StartScanner(shapes);
    this.#shortest = Math.min(...shapes.map(({ minLength }) => minLength));
    this.#starts = new Set(
      shapes.flatMap(({ start }) => Array.from(start, (_, index) => start.slice(0, index)).slice(1)),
    );
    this.#longestStart = Math.max(...Array.from(this.#starts, ({ length }) => length));
  }

  text(text: string): string {
    const found = this.#find(text);
    if (found.length === 0) return text;
    let clean = "";
    let from = 0;
    for (const match of found) {
      clean += text.slice(from, match.from) + REDACTED;
      from = match.to;
    }
    return clean + text.slice(from);
  }

  /** Redacts every string and key of a JSON value. Returns the value itself if there is nothing to redact. */
  value<T>(value: T): T {
    return this.#value(value) as T;
  }

  #value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items: readonly unknown[] = value;
      let copy: unknown[] | undefined;
      for (const [index, item] of items.entries()) {
        const clean = this.#value(item);
        if (clean !== item) (copy ??= [...items])[index] = clean;
      }
      return copy ?? value;
    }
    let isChanged = false;
    const entries = Object.entries(value).map(([key, item]): [string, unknown] => {
      const clean: [string, unknown] = [this.text(key), this.#value(item)];
      isChanged ||= clean[0] !== key || clean[1] !== item;
      return clean;
    });
    return isChanged ? Object.fromEntries(withDistinctKeys(entries)) : value;
  }

  /**
   * Whether JSON may contain a credential of a known format, without parsing it. JSON leaves the characters of these formats
   * as they are, except for line ends in private keys, which may be escaped there, and those that it writes as `\u`.
   */
  mayChange(json: string): boolean {
    return json.includes("\\u") || this.#find(json).length > 0;
  }

  stream(): StreamRedactor {
    let held = "";
    /** Set while the shown text ends with a credential that may continue. */
    let tail: RegExp | undefined;
    return {
      push: (piece) => {
        let text = held + piece;
        held = "";
        if (tail) {
          text = text.slice(endOf(tail, text, 0));
          if (text === "") return "";
          tail = undefined;
        }
        let shown = "";
        let from = 0;
        for (const match of this.#find(text)) {
          if (match.shape.mayGrow && endOf(match.shape.mayGrow, text, match.to) === text.length) {
            held = text.slice(match.at);
            return shown + text.slice(from, match.at);
          }
          shown += text.slice(from, match.from) + REDACTED;
          from = match.to;
          if (from === text.length) tail = match.shape.tail;
        }
        const rest = text.slice(from);
        const begin = this.#beginningIn(rest);
        held = rest.slice(begin);
        return shown + rest.slice(0, begin);
      },
      end: () => {
        const rest = this.text(held);
        held = "";
        return rest;
      },
    };
  }

  /** The credentials in a text, in order. Overlapping ones are joined. */
  #find(text: string): readonly Match[] {
    if (text.length < this.#shortest) return NONE;
    let found: Match[] | undefined;
    /** Where the search for a shape continues. */
    let resume: Map<CredentialShape, number> | undefined;
    this.#scanner.scan(text, (shape, at) => {
      const { start, rest, skip, hasVisibleStart } = shape;
      if (at < (resume?.get(shape) ?? 0)) return;
      const after = at + start.length;
      rest.lastIndex = after;
      const match = rest.exec(text);
      if (match) {
        const from = hasVisibleStart ? after + match[1]!.length : at;
        (found ??= []).push({ at, from, to: rest.lastIndex, shape });
        (resume ??= new Map()).set(shape, rest.lastIndex);
      } else if (skip) (resume ??= new Map()).set(shape, endOf(skip, text, after));
    });
    return found ? joined(found) : NONE;
  }

  /** The position at which an incomplete credential may have begun; the length of the text if there is none. */
  #beginningIn(text: string): number {
    let begin = text.length;
    this.#scanner.scan(text, ({ start, incomplete }, at) => {
      if (at >= begin) return;
      incomplete.lastIndex = at + start.length;
      if (incomplete.test(text)) begin = at;
    });
    for (let length = Math.min(this.#longestStart, text.length); length > text.length - begin; length--) {
      if (this.#starts.has(text.slice(-length))) return text.length - length;
    }
    return begin;
  }
}

const NONE: readonly Match[] = [];

function joined(found: readonly Match[]): Match[] {
  const matches: Match[] = [];
  for (const match of found.toSorted((a, b) => a.from - b.from)) {
    const last = matches.at(-1);
    if (!last || match.from >= last.to) matches.push(match);
    else if (match.to > last.to) matches[matches.length - 1] = { ...match, at: last.at, from: last.from };
  }
  return matches;
}

function endOf(run: RegExp, text: string, from: number): number {
  run.lastIndex = from;
  return run.test(text) ? run.lastIndex : from;
}

/** Two keys may have become equal. */
function withDistinctKeys(entries: readonly [string, unknown][]): [string, unknown][] {
  const seen = new Set<string>();
  return entries.map(([key, value]) => {
    let unique = key;
    for (let count = 2; seen.has(unique); count++) unique = `${key} ${count}`;
    seen.add(unique);
    return [unique, value];
  });
}

const redactor = new Redactor();

/** Redacts credentials with a recognizable format. */
export const redactText = (text: string): string => redactor.text(text);

/** Redacts them in every string and key of a JSON value. */
export const redactValue = <T>(value: T): T => redactor.value(value);
