import { allForms, exactTerm, factTerm, inTitle, KIND, termOf } from "./terms.ts";
import { visitWords } from "./search-words.ts";

/** The indexed fields of a document. */
export interface Indexed {
  key: string;
  kind: string;
  title: string;
  text: string;
  filters?: Readonly<Record<string, string | readonly string[]>>;
}

/** A document's terms by field, with repetitions. */
export interface Terms {
  facts: string[];
  title: string[];
  text: string[];
}

/** Bounds the cost of one document: about 400 pages. */
const MAX_TERMS = 200_000;

export function indexTerms(space: number, { key, kind, title, text, filters = {} }: Indexed): Terms {
  const facts = [factTerm(space, KIND, kind)];
  for (const [name, values] of Object.entries(filters)) {
    for (const value of typeof values === "string" ? [values] : values) facts.push(factTerm(space, name, value));
  }
  for (const name of new Set([title, ...namesIn(key)])) {
    const exact = exactTerm(space, name);
    if (exact !== undefined) facts.push(exact);
  }
  const named = termsIn(space, title);
  return { facts: [...new Set(facts)], title: [...named, ...named.map(inTitle)], text: termsIn(space, text) };
}

/** `table:shop/public.orders` also matches `shop/public.orders`, `public.orders` and `orders`. */
function namesIn(key: string): string[] {
  const slash = key.lastIndexOf("/");
  const dot = slash === -1 ? -1 : key.indexOf(".", slash);
  const names = [key, key.slice(key.indexOf(":") + 1), key.slice(slash + 1)];
  return dot === -1 ? names : [...names, key.slice(dot + 1)];
}

function termsIn(space: number, text: string): string[] {
  const terms: string[] = [];
  visitWords(text.normalize("NFC"), (word) => {
    for (const form of allForms(word)) terms.push(termOf(space, form));
    return terms.length < MAX_TERMS;
  });
  return terms;
}

/** Caps the count of a repeated word. */
const MAX_COUNTED = 16;

/**
 * A Postgres tsvector with counts encoded as positions: `'customer':1A,2,3`. Title terms have weight A. Terms contain
 * no special characters.
 */
export function toVector({ facts, title, text }: Terms): string {
  const counts = new Map<string, { title: number; text: number }>();
  const count = (terms: readonly string[], place: "title" | "text"): void => {
    for (const term of terms) {
      const found = counts.get(term);
      if (found) found[place] += 1;
      else counts.set(term, { title: 0, text: 0, [place]: 1 });
    }
  };
  count(title, "title");
  count(text, "text");
  const entries = facts.map((fact) => `'${fact}'`);
  let bytes = 0;
  for (const [term, { title, text }] of counts) {
    const last = Math.min(title + text, MAX_COUNTED);
    bytes += Buffer.byteLength(term) + BYTES_BESIDE + BYTES_PER_COUNT * last;
    if (bytes > MAX_BYTES) break;
    entries.push(`'${term}':${Array.from({ length: last }, (_, at) => `${at + 1}${at < title ? "A" : ""}`).join(",")}`);
  }
  return entries.join(" ");
}

/** Postgres limits a tsvector to 1 MB; title terms come first. */
const MAX_BYTES = 900_000;
const BYTES_BESIDE = 8;
const BYTES_PER_COUNT = 2;
