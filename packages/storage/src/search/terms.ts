import { createHash } from "node:crypto";
import { visitWords, type Word } from "./search-words.ts";

// Index terms. Each starts with the number of its space, so that spaces are isolated and word frequencies are per
// space. The separators occur in no word, because words are letters and digits. They are outside ASCII, so that an
// ASCII tokenizer keeps a term as one word.
const SPACE_END = "¦";
const FACT = "¤";
const EXACT = "§";
const TITLE = "‡";

export const termOf = (space: number, form: string): string => space.toString(36) + SPACE_END + form;

/** A separate term for title matches, which far fewer documents have. */
export const inTitle = (term: string): string => term.replace(SPACE_END, SPACE_END + TITLE);

/** A term for a filter or kind. */
export const factTerm = (space: number, name: string, value: string): string =>
  termOf(space, FACT + digest(`${name}\u0000${value}`));

/** Fact name for kinds; no filter can have this name. */
export const KIND = "\u0000kind";

/** A term for a whole title or key, independent of spelling. Undefined if it has no words. */
export function exactTerm(space: number, text: string): string | undefined {
  const forms: string[] = [];
  visitWords(text.slice(0, MAX_EXACT_LENGTH).normalize("NFC"), ({ forms: [own] }) => void forms.push(own!));
  return forms.length > 0 ? termOf(space, EXACT + digest(forms.join(" "))) : undefined;
}

const MAX_EXACT_LENGTH = 1_000;

/** All forms under which a word is indexed. */
export const allForms = ({ forms, parts, letters }: Word): string[] => [...forms, ...parts.flat(), ...letters];

/** A cache pays off, because the same few values occur in every document. */
const DIGESTS = 10_000;
const digests = new Map<string, string>();

function digest(text: string): string {
  const found = digests.get(text);
  if (found !== undefined) return found;
  const made = createHash("sha256").update(text).digest("hex").slice(0, 20);
  if (digests.size >= DIGESTS) digests.clear();
  digests.set(text, made);
  return made;
}
