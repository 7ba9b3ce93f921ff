import { exactTerm, factTerm, inTitle, KIND, termOf } from "./terms.ts";
import { visitWords } from "./search-words.ts";
import { isStopWord } from "./stop-words.ts";

/** Matches documents that contain one of the terms. */
export interface SearchWord {
  terms: string[];
  /** For an unfinished word: matches terms with this prefix. */
  prefix?: string;
}

/** One word of the query. */
export interface QueryWord extends SearchWord {
  /** Parts of an identifier, each with its terms. */
  parts: string[][];
}

/** An analysed query. */
export interface QueryTerms {
  words: QueryWord[];
  /** Term of documents with exactly this title or key. */
  exact: string | undefined;
  /** Filters: one term of each list must match. */
  facts: string[][];
}

/** More words make a search slower without better results. */
const MAX_WORDS = 32;
/** One letter matches too much. */
const SHORTEST_PREFIX = 2;
/** Longer text is pasted; its beginning describes it well enough. */
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
    return words.size < MAX_WORDS;
  });
  const telling = [...words].filter(([own]) => !isStopWord(own)).map(([, word]) => word);
  const wanted = telling.length > 0 ? telling : [...words.values()];
  if (last && last.own.length >= SHORTEST_PREFIX && wanted.includes(last.word)) {
    last.word.prefix = termOf(space, last.own);
  }
  return {
    words: wanted,
    exact: exactTerm(space, start),
    facts: [
      ...(kinds ? [kinds.map((kind) => factTerm(space, KIND, kind))] : []),
      ...Object.entries(filters).map(([name, value]) => [factTerm(space, name, value)]),
    ],
  };
}

/** Replaces identifiers by their parts; empty if there are none. */
export function inParts(words: readonly QueryWord[]): SearchWord[] {
  if (words.every(({ parts }) => parts.length === 0)) return [];
  const wanted = words.flatMap((word): SearchWord[] =>
    word.parts.length > 0 ? word.parts.map((terms) => ({ terms })) : [word],
  );
  return [...new Map(wanted.map((each) => [each.terms[0], each])).values()];
}

/** The same words restricted to titles. */
export const inTitles = (words: readonly SearchWord[]): SearchWord[] =>
  words.map(({ terms, prefix }) => ({
    terms: terms.map(inTitle),
    ...(prefix !== undefined && { prefix: inTitle(prefix) }),
  }));

/** Returns a test whether a document's word matches the query. */
export function matcher(words: readonly QueryWord[], space: number): (form: string) => boolean {
  const start = termOf(space, "").length;
  const forms = new Set(
    words.flatMap(({ terms, parts }) => [...terms, ...parts.flat()]).map((term) => term.slice(start)),
  );
  const prefixes = words.flatMap(({ prefix }) => (prefix === undefined ? [] : [prefix.slice(start)]));
  return (form) => forms.has(form) || prefixes.some((prefix) => form.startsWith(prefix));
}
