import { matcher, type QueryWord } from "./analyse-query.ts";
import { allForms } from "./terms.ts";
import { visitWords, type Word } from "./search-words.ts";

/** Characters of a passage: two or three lines. */
const LENGTH = 240;
/** Only this much text is searched for a passage. */
const MAX_TEXT_LENGTH = 500_000;
const MAX_MARKS = 5_000;

interface Mark {
  from: number;
  to: number;
  form: string;
}

/** Returns a function that finds the passage with the most matches and marks them with `«` and `»`. */
export function snippetMaker(words: readonly QueryWord[], space: number): (text: string) => string {
  const isAskedFor = matcher(words, space);
  // A cache pays off, because most text consists of the same few words.
  const known = new Map<Word, string | undefined>();
  const formIn = (word: Word): string | undefined => {
    if (known.has(word)) return known.get(word);
    const form = allForms(word).find(isAskedFor);
    known.set(word, form);
    return form;
  };
  return (text) => makeSnippet(text.slice(0, MAX_TEXT_LENGTH).normalize("NFC"), formIn);
}

function makeSnippet(text: string, formIn: (word: Word) => string | undefined): string {
  const marks = findMarks(text, formIn);
  const { from, to } = bestPassage(text, marks);
  let snippet = "";
  let done = from;
  for (const mark of marks) {
    if (mark.from < from || mark.to > to) continue;
    snippet += `${text.slice(done, mark.from)}«${text.slice(mark.from, mark.to)}»`;
    done = mark.to;
  }
  snippet = (snippet + text.slice(done, to)).replace(/\s+/gu, " ").trim();
  return `${from > 0 ? "… " : ""}${snippet}${to < text.length ? " …" : ""}`;
}

/** Merges overlapping matches, such as neighbouring character pairs. */
function findMarks(text: string, formIn: (word: Word) => string | undefined): Mark[] {
  const marks: Mark[] = [];
  visitWords(text, (word, at) => {
    const form = formIn(word);
    if (form === undefined) return true;
    const [from, to] = [at + word.from, at + word.to];
    const last = marks.at(-1);
    if (last && from < last.to) last.to = to;
    else marks.push({ from, to, form });
    return marks.length < MAX_MARKS;
  });
  return marks;
}

/** Prefers the most distinct words, then the most matches. */
function bestPassage(text: string, marks: readonly Mark[]): { from: number; to: number } {
  if (text.length <= LENGTH) return { from: 0, to: text.length };
  let best = { score: 0, first: marks[0], last: marks[0] };
  const inside = new Map<string, number>();
  let first = 0;
  for (const [index, mark] of marks.entries()) {
    inside.set(mark.form, (inside.get(mark.form) ?? 0) + 1);
    while (mark.to - marks[first]!.from > LENGTH && first < index) {
      const left = marks[first]!.form;
      const count = inside.get(left)! - 1;
      if (count > 0) inside.set(left, count);
      else inside.delete(left);
      first += 1;
    }
    const score = inside.size * 1_000 + (index - first);
    if (score > best.score) best = { score, first: marks[first], last: mark };
  }
  if (!best.first || !best.last) return around(text, 0, 0);
  return around(text, best.first.from, Math.min(best.last.to, best.first.from + LENGTH));
}

/** Extends the passage on both sides to full length and to word boundaries. */
function around(text: string, from: number, to: number): { from: number; to: number } {
  const spare = Math.max(0, LENGTH - (to - from));
  let start = Math.max(0, from - Math.floor(spare / 3));
  const end = Math.min(text.length, start + Math.max(LENGTH, to - start));
  if (start > 0) {
    const space = text.slice(start, from).search(/\s/u);
    start = space >= 0 ? start + space + 1 : wholeLetter(text, start);
  }
  const rest = end < text.length ? text.slice(to, end).search(/\s\S*$/u) : -1;
  return { from: start, to: rest >= 0 ? to + rest : wholeLetter(text, end) };
}

/** Does not split a surrogate pair. */
const wholeLetter = (text: string, at: number): number =>
  at < text.length && /[\udc00-\udfff]/.test(text[at]!) ? at + 1 : at;
