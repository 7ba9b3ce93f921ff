/** Diacritics that people omit when typing: Latin, Greek and Cyrillic accents, Hebrew points, Arabic vowel signs. */
const OPTIONAL_MARKS = /[\u0300-\u036f]|[\u0591-\u05c7]|[\u0610-\u061a]|\u0640|[\u064b-\u065f]|\u0670/gu;
/** Invisible characters: joiners, soft hyphens, direction marks. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]|\ufe0e|\ufe0f/gu;
/** Letters without a Unicode decomposition. */
const LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  þ: "th",
  ł: "l",
  ħ: "h",
  ı: "i",
  ς: "σ",
  ة: "ه",
  ى: "ي",
};
const OTHER_LETTERS = new RegExp(`[${Object.keys(LETTERS).join("")}]`, "gu");
/** Punctuation that a decomposition can add, such as the brackets of `⑴`. */
const PUNCTUATION = /[^a-z0-9\u0080-\u{10ffff}]/gu;
/** Quick check whether anything must change, including uppercase letters from the decomposition. */
const TO_FOLD = new RegExp(
  [OPTIONAL_MARKS, INVISIBLE, OTHER_LETTERS, PUNCTUATION, /\p{Lu}/u].map(({ source }) => source).join("|"),
  "u",
);
const PLAIN = /^[a-z0-9]*$/;

/** Normalises case, accents, width and composition. Of ASCII, only a-z and 0-9 remain. */
export function foldWord(word: string): string {
  const lower = word.toLowerCase();
  if (PLAIN.test(lower)) return lower;
  const apart = lower.normalize("NFKD");
  if (!TO_FOLD.test(apart)) return apart.normalize("NFC");
  return apart
    .replace(OPTIONAL_MARKS, "")
    .replace(INVISIBLE, "")
    .toLowerCase()
    .replace(OTHER_LETTERS, (letter) => LETTERS[letter]!)
    .replace(PUNCTUATION, "")
    .normalize("NFC");
}

/** Transliterations: `Müller` as Mueller, `Ørsted` as Oersted. */
const WRITTEN_OUT: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa" };
const HAS_WRITTEN_OUT = /[äöüøå]/;

/** Additional spellings that also find the word. `folded` is its main form. */
export function otherForms(word: string, folded: string): string[] {
  const lower = word.toLowerCase().normalize("NFC");
  const forms = singulars(folded);
  if (HAS_WRITTEN_OUT.test(lower)) forms.push(foldWord(lower.replace(/[äöüøå]/g, (letter) => WRITTEN_OUT[letter]!)));
  // The Arabic article is attached to its word.
  if (folded.length > 4 && folded.startsWith("ال")) forms.push(folded.slice(2));
  return forms;
}

/** Possible singulars of an English plural. A wrong form is harmless: no query contains it. */
function singulars(word: string): string[] {
  if (word.length < 4 || !word.endsWith("s") || /(?:ss|us|is)$/.test(word) || !PLAIN.test(word)) return [];
  if (word.endsWith("ies") && word.length > 4) return [`${word.slice(0, -3)}y`];
  const one = word.slice(0, -1);
  return /(?:[sxz]|ch|sh)es$/.test(word) ? [one, word.slice(0, -2)] : [one];
}
