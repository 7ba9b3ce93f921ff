import { GIVEN_NAMES } from "./given-names.ts";

const TITLES = /^((dr|prof|mr|mrs|ms|miss|sir|herr|frau|dipl|ing|med|phd)\b\.?[ -]*)+/iu;
const PARTICLES = new Set("von van de der den del della di da la le bin al el zu zur ten ter dos do st".split(" "));
const COMPANY =
  /\b(gmbh|ag|kg|kgaa|ohg|ug|e\.?v|se|inc|ltd|llc|llp|plc|corp|co|company|group|holding|bank|sons|bros|partners?|solutions|services|systems|trading|industries|international|stores?|shop|hotel|restaurant|foundation|university|s\.?a|s\.?r\.?l|b\.?v|n\.?v|oy|ab|sarl|gbr|stiftung|verein|versicherung(en)?|werke?|gymnasium|schule|school|college|institute?|club|museum)\b\.?|[&+/0-9]/iu;

const plain = (word: string): string =>
  word
    .normalize("NFD")
    .replaceAll(/[\p{M}.]/gu, "")
    .toLowerCase();

export const isGivenName = (word: string): boolean => GIVEN_NAMES.has(plain(word).split("-")[0]!);

/** The words of a name in the order given name, family name; undefined if the text has not the form of a name. */
function nameWords(text: string): string[] | undefined {
  const bare = text.trim().replace(TITLES, "");
  if (bare.length > 50 || COMPANY.test(bare)) return undefined;
  const [, family, given] = /^([^,]+), ?([^,]+)$/.exec(bare) ?? [];
  const words = (given === undefined ? bare : `${given} ${family}`).split(/\s+/);
  if (words.length < 2 || words.length > 5) return undefined;
  const isName = words.every((word) => /^\p{Lu}[\p{L}\p{M}'’.-]*$/u.test(word) || PARTICLES.has(word.toLowerCase()));
  return isName ? words : undefined;
}

/** `Anna Schmidt`, `Schmidt, Anna`, `Dr. Karl von Hagen`: a frequent given name and a family name. */
export const isPersonName = (text: string): boolean => {
  const words = nameWords(text);
  return words !== undefined && isGivenName(words[0]!);
};

/** The form of a name with any given name: enough only where the column is about persons. */
export const hasNameForm = (text: string): boolean => nameWords(text) !== undefined;

/** One word of a name, or several: letters, hyphens and apostrophes. */
export const isNamePart = (text: string): boolean =>
  text.length <= 40 && /^\p{L}[\p{L}\p{M}'’. -]*$/u.test(text.trim()) && !COMPANY.test(text);
