import { exactTerm, factTerm, inTitle, KIND, termOf } from "./terms.ts";
import { visitWords } from "./words.ts";

/** Found where one of its terms is. */
export interface Wanted {
  terms: string[];
  /** What is still being typed: found where something begins with it. */
  prefix?: string;
}

/** One word that was asked for. */
export interface QueryWord extends Wanted {
  /** Of an identifier, each with its terms. */
  parts: string[][];
}

/** What a text asks for. */
export interface QueryTerms {
  words: QueryWord[];
  /** Of documents that are called exactly so. */
  exact: string | undefined;
  /** Of each, one must hold. */
  facts: string[][];
}

/** More of them make a search slower, and no better. */
const MOST_WORDS = 32;
/** One letter begins too much. */
const SHORTEST_PREFIX = 2;
/** Nobody types more; what is pasted says what it is about at its beginning. */
const LONGEST = 4_000;

export function analyseQuery(
  space: number,
  {
    text,
    kinds,
    filters = {},
  }: { text: string; kinds?: readonly string[]; filters?: Readonly<Record<string, string>> },
): QueryTerms {
  const start = text.slice(0, LONGEST).normalize("NFC");
  const words = new Map<string, QueryWord>();
  let last: { word: QueryWord; own: string } | undefined;
  visitWords(start, ({ forms, parts, letters }) => {
    const own = forms[0];
    if (own === undefined) return true;
    const term = (form: string): string => termOf(space, form);
    const word = words.get(own) ?? { terms: forms.map(term), parts: parts.map((each) => each.map(term)) };
    words.set(own, word);
    last = letters.length === 0 ? { word, own } : undefined;
    return words.size < MOST_WORDS;
  });
  if (last && last.own.length >= SHORTEST_PREFIX) last.word.prefix = termOf(space, last.own);
  return {
    words: [...words.values()],
    exact: exactTerm(space, start),
    facts: [
      ...(kinds ? [kinds.map((kind) => factTerm(space, KIND, kind))] : []),
      ...Object.entries(filters).map(([name, value]) => [factTerm(space, name, value)]),
    ],
  };
}

/** With the parts of identifiers in their place; empty if there are none. */
export function inParts(words: readonly QueryWord[]): Wanted[] {
  if (words.every(({ parts }) => parts.length === 0)) return [];
  const wanted = words.flatMap((word): Wanted[] =>
    word.parts.length > 0 ? word.parts.map((terms) => ({ terms })) : [word],
  );
  return [...new Map(wanted.map((each) => [each.terms[0], each])).values()];
}

/** The same words, as they are in titles. */
export const inTitles = (words: readonly Wanted[]): Wanted[] =>
  words.map(({ terms, prefix }) => ({
    terms: terms.map(inTitle),
    ...(prefix !== undefined && { prefix: inTitle(prefix) }),
  }));

/** Whether a word of a document is one that was asked for. */
export function matcher(words: readonly QueryWord[], space: number): (form: string) => boolean {
  const start = termOf(space, "").length;
  const forms = new Set(
    words.flatMap(({ terms, parts }) => [...terms, ...parts.flat()]).map((term) => term.slice(start)),
  );
  const prefixes = words.flatMap(({ prefix }) => (prefix === undefined ? [] : [prefix.slice(start)]));
  return (form) => forms.has(form) || prefixes.some((prefix) => form.startsWith(prefix));
}
