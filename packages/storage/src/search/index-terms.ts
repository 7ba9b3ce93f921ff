import { allForms, exactTerm, factTerm, inTitle, KIND, termOf } from "./terms.ts";
import { visitWords } from "./words.ts";

/** What is read of a document to find terms in it. */
export interface Indexed {
  key: string;
  kind: string;
  title: string;
  text: string;
  filters?: Readonly<Record<string, string | readonly string[]>>;
}

/** The terms of a document, by where they were found, repeated as often as they were. */
export interface Terms {
  facts: string[];
  title: string[];
  text: string[];
}

/** Bounds what one document can cost: some 400 pages. */
const MOST_TERMS = 200_000;

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

/** `table:shop/public.orders` is also called `shop/public.orders`, `public.orders` and `orders`. */
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
    return terms.length < MOST_TERMS;
  });
  return terms;
}

/** Several of the same word say more than one, but not for ever. */
const MOST_COUNTED = 16;

/**
 * As Postgres takes it, with how often in place of where: `'customer':1A,2,3`. The title has the weight A. Nothing in a
 * term has a meaning there.
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
    const last = Math.min(title + text, MOST_COUNTED);
    bytes += Buffer.byteLength(term) + BYTES_BESIDE + BYTES_PER_COUNT * last;
    if (bytes > MOST_BYTES) break;
    entries.push(`'${term}':${Array.from({ length: last }, (_, at) => `${at + 1}${at < title ? "A" : ""}`).join(",")}`);
  }
  return entries.join(" ");
}

/** Postgres takes a megabyte; the title's terms are the first. */
const MOST_BYTES = 900_000;
const BYTES_BESIDE = 8;
const BYTES_PER_COUNT = 2;
