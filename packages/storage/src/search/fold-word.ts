/** Marks that people leave out when they type: accents of Latin, Greek and Cyrillic, Hebrew points, Arabic vowel signs. */
const OPTIONAL_MARKS = /[\u0300-\u036f]|[\u0591-\u05c7]|[\u0610-\u061a]|\u0640|[\u064b-\u065f]|\u0670/gu;
/** Invisible: joiners, soft hyphens, marks of direction. */
const INVISIBLE = /[\u00ad\u200b-\u200f\u2060\ufeff]|\ufe0e|\ufe0f/gu;
/** Letters that no decomposition takes apart. */
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
/** What a decomposition may bring in, such as the brackets of `⑴`. */
const PUNCTUATION = /[^a-z0-9\u0080-\u{10ffff}]/gu;
/** All that is to be changed, and what a decomposition may have made large again. */
const TO_FOLD = new RegExp(
  [OPTIONAL_MARKS, INVISIBLE, OTHER_LETTERS, PUNCTUATION, /\p{Lu}/u].map(({ source }) => source).join("|"),
  "u",
);
const PLAIN = /^[a-z0-9]*$/;

/** One spelling for all the ways to write a word: case, accents, width, composed or not. Of ASCII, only a-z and 0-9 are left. */
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

/** How those write who do not have the letter: `Müller` as Mueller, `Ørsted` as Oersted. */
const WRITTEN_OUT: Readonly<Record<string, string>> = { ä: "ae", ö: "oe", ü: "ue", ø: "oe", å: "aa" };
const HAS_WRITTEN_OUT = /[äöüøå]/;

/** Other spellings of a word under which it is found as well. `folded` is the first one. */
export function otherForms(word: string, folded: string): string[] {
  const lower = word.toLowerCase().normalize("NFC");
  const forms = singulars(folded);
  if (HAS_WRITTEN_OUT.test(lower)) forms.push(foldWord(lower.replace(/[äöüøå]/g, (letter) => WRITTEN_OUT[letter]!)));
  // The Arabic article is written together with its word.
  if (folded.length > 4 && folded.startsWith("ال")) forms.push(folded.slice(2));
  return forms;
}

/** What an English plural may be the plural of. A form that is no word does no harm: nobody looks for it. */
function singulars(word: string): string[] {
  if (word.length < 4 || !word.endsWith("s") || /(?:ss|us|is)$/.test(word) || !PLAIN.test(word)) return [];
  if (word.endsWith("ies") && word.length > 4) return [`${word.slice(0, -3)}y`];
  const one = word.slice(0, -1);
  return /(?:[sxz]|ch|sh)es$/.test(word) ? [one, word.slice(0, -2)] : [one];
}
