/** Lowercase words of a name without accents: `CustomerID`, `customer_id` and `customer id` are equal. */
export function wordsOf(name: string): string[] {
  return name
    .normalize("NFKC")
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .replaceAll(/(\p{Lu})(\p{Lu}\p{Ll})/gu, "$1 $2")
    .replaceAll(/(\p{L})(\p{N})/gu, "$1 $2")
    .replaceAll(/(\p{N})(\p{L})/gu, "$1 $2")
    .replaceAll(SCRIPT_CHANGE, "$1$3 $2$4")
    .normalize("NFD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll("ß", "ss")
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

// 顧客ID can only be split where the script changes.
const IDEOGRAPHIC = "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}\\p{sc=Hangul}\\p{sc=Thai}]";
const SCRIPT_CHANGE = new RegExp(
  `(${IDEOGRAPHIC})(?=[\\p{sc=Latin}\\p{N}])()|([\\p{sc=Latin}\\p{N}])(?=${IDEOGRAPHIC})()`,
  "gu",
);

const ALPHABETIC = /^[\p{sc=Latin}\p{sc=Cyrillic}\p{sc=Greek}]+$/u;
const VOWEL = /[aeiouyаеёиоуыэюяαεηιουω]/u;
const VOWELS = /[aeiouyаеёиоуыэюяαεηιουω]/gu;

/** Similarity of two words: 1 equal, 0.96 inflected, less for abbreviations, 0 unrelated. */
export function likeness(a: string, b: string): number {
  if (a === b) return 1;
  if (IRREGULAR.has(`${a} ${b}`) || IRREGULAR.has(`${b} ${a}`) || inflected(a, b)) return INFLECTED;
  return a.length < b.length ? shortFormOf(a, b) : a.length > b.length ? shortFormOf(b, a) : 0;
}

export const INFLECTED = 0.96;

const IRREGULAR = new Set(
  "person people|person persons|man men|woman women|child children|datum data|index indices|matrix matrices|mouse mice|foot feet|staff staffs|buch bucher|land lander".split(
    "|",
  ),
);

/** Inflection endings of many languages. */
const ENDINGS = new Set(
  "s es e en n er ern se ne ner nen innen i a o x r ar or lar ler le t et ek k ok ak у ы и а я ов ев ей ам ой ом ь ю е α ι ες ων ος".split(
    " ",
  ),
);
/** Endings that replace each other. */
const CHANGES = new Set(
  "y ies|y ie|us i|um a|is es|f ves|fe ves|on a|al aux|el les|ao oes|m ns|l is|z ces|o i|a e|e i|a as|a os|o as|us era|a ae|a y|ь и|ь я|ь ей|й и|й я|а ы|а и|а у|а е|а ой|я и|я ю|о а|ие ия|ие ий|ия ии|ия ий|ы а|ы ов|и ей|и я|и а|ц цы|ец цы|ец ца|ок ки|ок ка|ος οι|α ες|η ες|ο α|ι ια".split(
    "|",
  ),
);

function inflected(a: string, b: string): boolean {
  if (!ALPHABETIC.test(a) || !ALPHABETIC.test(b)) return false;
  let same = 0;
  while (same < a.length && same < b.length && a[same] === b[same]) same++;
  const [short, long] = a.length <= b.length ? [a.slice(same), b.slice(same)] : [b.slice(same), a.slice(same)];
  if (same < 3 || long.length > same) return false;
  if (short === "") return ENDINGS.has(long) && (same > 3 || long.length <= 2);
  return CHANGES.has(`${short} ${long}`) || CHANGES.has(`${long} ${short}`);
}

/** `dept` of department, `cust` of customer, `acct` of account: how well the letters abbreviate the word. */
function shortFormOf(short: string, long: string): number {
  if (short.length < 2 || short[0] !== long[0] || !ALPHABETIC.test(short) || !ALPHABETIC.test(long)) return 0;
  if (long.startsWith(short)) return short.length >= 4 ? 0.88 : short.length === 3 ? 0.84 : 0.55;
  let at = 0;
  let dropped = "";
  for (const letter of short) {
    const next = long.indexOf(letter, at);
    if (next === -1) return 0;
    dropped += long.slice(at, next);
    at = next + 1;
  }
  // County is no abbreviation of country: abbreviations drop vowels first.
  if (!VOWEL.test(dropped + long.slice(at))) return 0;
  if (short.length < 3) return 0.45;
  const skeleton = long.replace(/s$/, "").slice(1).replaceAll(VOWELS, "");
  // An abbreviation keeps the last sound, or all consonants of the beginning.
  const keepsEnd = skeleton.endsWith(short.at(-1)!) || long.replace(/e?s$/, "").endsWith(short.at(-1)!);
  return keepsEnd ? 0.8 : (long[0]! + skeleton).startsWith(short) ? 0.78 : 0.6;
}
