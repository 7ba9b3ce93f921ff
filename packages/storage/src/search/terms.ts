import { createHash } from "node:crypto";
import { visitWords, type Word } from "./words.ts";

// What is stored in the index and looked for in it. A term begins with the number of its space, so that nothing is ever
// found across spaces and words are as rare as they are in their own. The signs are of no word: words are letters and
// digits. They are outside of ASCII, so that an index that knows only ASCII takes a term for one word.
const SPACE_END = "¦";
const FACT = "¤";
const EXACT = "§";
const TITLE = "‡";

export const termOf = (space: number, form: string): string => space.toString(36) + SPACE_END + form;

/** The same where it is in a title: far fewer documents have it there. */
export const inTitle = (term: string): string => term.replace(SPACE_END, SPACE_END + TITLE);

/** For a filter or a kind: not a word, but what is so or not. */
export const factTerm = (space: number, name: string, value: string): string =>
  termOf(space, FACT + digest(`${name}\u0000${value}`));

/** For a kind; no filter can have this name. */
export const KIND = "\u0000kind";

/** For a title or key as a whole, whatever its spelling. Undefined for one without words. */
export function exactTerm(space: number, text: string): string | undefined {
  const forms: string[] = [];
  visitWords(text.slice(0, LONGEST_EXACT).normalize("NFC"), ({ forms: [own] }) => void forms.push(own!));
  return forms.length > 0 ? termOf(space, EXACT + digest(forms.join(" "))) : undefined;
}

const LONGEST_EXACT = 1_000;

/** Everything under which a word is stored. */
export const allForms = ({ forms, parts, letters }: Word): string[] => [...forms, ...parts.flat(), ...letters];

/** The same few values come again with every document. */
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
