import { foldWord, otherForms } from "./fold-word.ts";

/** A searchable word and its position in a text. */
export interface Word {
  from: number;
  to: number;
  /** Spellings that find it; the first is its own. */
  forms: readonly string[];
  /** Parts of an identifier, each with its spellings. */
  parts: readonly (readonly string[])[];
  /** In scripts without spaces: single letters that also find it. */
  letters: readonly string[];
}

/**
 * Letters, digits and their marks; `_` and `-` join several. Repetitions are bounded, to prevent catastrophic
 * backtracking.
 */
const COMPOUND =
  /[\p{L}\p{N}][\p{L}\p{M}\p{N}\u00ad\u200b-\u200d]{0,4000}(?:[_-]{1,8}[\p{L}\p{N}][\p{L}\p{M}\p{N}\u00ad\u200b-\u200d]{0,4000}){0,16}/gu;

/**
 * Scripts without (reliable) spaces between words. They are indexed as character pairs, which needs no dictionary and
 * so never changes with a dictionary's version.
 */
const UNSPACED =
  /(?:[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}\p{sc=Tibetan}ー々〆ｰ]\p{M}*)+/gu;
const INVISIBLE = /[\u00ad\u200b-\u200d]/g;
const LETTER = /\P{M}\p{M}*/gu;
/** Quick check: most texts contain no such script. */
const MAY_BE_UNSPACED = /[\u0e00-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\uffff]/;

/** Splits `CustomerID2` into Customer, ID, 2. */
const PART =
  /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?[\p{Ll}\p{Lo}\p{Lm}\p{M}]+|\p{Lu}[\p{Lu}\p{M}]*|\p{N}+|\p{Lt}[\p{Ll}\p{M}]*/gu;
const MAX_PARTS = 8;
/** Fast path: most words have one part. */
const SIMPLE = /^\p{L}[\p{Ll}\p{Lo}\p{M}]*$/u;
/** Longer words are keys or hashes, which are found by their beginning. */
const LONGEST = 64;

/** Cache size; most text consists of a few thousand words. */
const KNOWN = 20_000;
let known = new Map<string, readonly Word[]>();
/** Previous cache generation; entries in use move to the new one. */
let formerlyKnown = new Map<string, readonly Word[]>();

/** Visits the words of a text in order, until `visit` returns false. Positions refer to the NFC form. */
export function visitWords(text: string, visit: (word: Word, at: number) => boolean | void): void {
  COMPOUND.lastIndex = 0;
  for (let found = COMPOUND.exec(text); found; found = COMPOUND.exec(text)) {
    const { 0: compound, index } = found;
    // The visitor may scan another text, which changes `lastIndex`.
    const next = COMPOUND.lastIndex;
    for (const word of wordsOf(compound)) if (visit(word, index) === false) return;
    COMPOUND.lastIndex = next;
  }
}

function wordsOf(compound: string): readonly Word[] {
  const found = known.get(compound);
  if (found) return found;
  const words =
    formerlyKnown.get(compound) ?? (MAY_BE_UNSPACED.test(compound) ? splitByScript(compound) : [wordOf(compound, 0)]);
  if (known.size >= KNOWN) {
    formerlyKnown = known;
    known = new Map();
  }
  if (compound.length <= LONGEST) known.set(compound, words);
  return words;
}

function splitByScript(compound: string): Word[] {
  const words: Word[] = [];
  let done = 0;
  const spaced = (to: number): void => {
    const text = compound.slice(done, to);
    if (/[\p{L}\p{N}]/u.test(text)) words.push(wordOf(text, done));
  };
  for (const { 0: run, index } of compound.matchAll(UNSPACED)) {
    spaced(index);
    for (const pair of pairsOf(run, index)) words.push(pair);
    done = index + run.length;
  }
  spaced(compound.length);
  return words;
}

function pairsOf(run: string, offset: number): Word[] {
  const letters = [...run.matchAll(LETTER)].map(({ 0: letter, index }) => {
    return { from: offset + index, to: offset + index + letter.length, form: foldLetter(letter) };
  });
  const word = (first: number, last: number): Word => ({
    from: letters[first]!.from,
    to: letters[last]!.to,
    forms: [first === last ? letters[first]!.form : letters[first]!.form + letters[last]!.form],
    parts: [],
    letters: letters.slice(first, last === letters.length - 1 ? last + 1 : last).map(({ form }) => form),
  });
  if (letters.length === 1) return [word(0, 0)];
  return letters.slice(1).map((_, index) => word(index, index + 1));
}

/** A few thousand entries at most. */
const letterForms = new Map<string, string>();

function foldLetter(letter: string): string {
  const found = letterForms.get(letter);
  if (found !== undefined) return found;
  const form = foldWord(letter);
  if (letterForms.size < KNOWN) letterForms.set(letter, form);
  return form;
}

function wordOf(text: string, from: number): Word {
  if (SIMPLE.test(text)) return { from, to: from + text.length, forms: formsOf(text), parts: [], letters: [] };
  const bare = text.replace(INVISIBLE, "");
  const parts = partsOf(bare);
  const forms = formsOf(bare.replace(/[_-]+/g, ""));
  return { from, to: from + text.length, forms, parts: parts.length > 1 ? parts.map(formsOf) : [], letters: [] };
}

function partsOf(text: string): string[] {
  const pieces = text.split(/[_-]+/).filter(Boolean);
  const fine = pieces.flatMap((piece) => piece.match(PART) ?? [piece]);
  return fine.length <= MAX_PARTS ? fine : pieces.slice(0, MAX_PARTS * 2);
}

function formsOf(text: string): readonly string[] {
  const word = text.length > LONGEST ? text.slice(0, LONGEST) : text;
  const folded = foldWord(word);
  const others = otherForms(word, folded);
  if (others.length === 0) return folded === "" ? [] : [folded];
  return [...new Set([folded, ...others])].filter(Boolean);
}
