import type { SearchDocument } from "@tandem/storage";

/** The same documents on every run. */
export class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** At least 0, less than 1. */
  next(): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#state / 2 ** 32;
  }

  below(limit: number): number {
    return Math.floor(this.next() * limit);
  }

  of<T>(items: readonly T[]): T {
    return items[this.below(items.length)]!;
  }
}

const SYLLABLES: Record<string, readonly string[]> = {
  english: "an be con der ex for gen hal in ket low man ner or pre qui re ser tion ure ver wel ing ed".split(" "),
  german: "ab be chen da ein für ge heit ig keit lich mög nä ob prüf schö stra tät über vor wür zeug ung äu".split(" "),
  russian: "ба ва го де жи за ка ло ме но об пре ра сто ту фи хо це ча ший эт ние ость ска".split(" "),
  greek: "αν βε γο δι εν θα κα λο με νο οι πα ρα σε το φι χω ψη ων μος τικ ση".split(" "),
};
/** Words of each language, the first of which make up most of a text. */
const WORDS_PER_LANGUAGE = 20_000;
const MOST_COMMON: Record<string, string> = {
  english: "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they",
  german:
    "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine als auch es an werden aus er hat",
  russian: "и в не на что он с как это по но они к у за из от о так же для бы то все она его было",
  greek: "και το να του η της με που την από για τα στο είναι οι θα σε τον ότι στην δεν ο μια",
};
const HAN =
  "的一是在不了有和人这中大为上个国我以要他时来用们生到作地于出就分对成会可主发年动同工也能下过子说产种面而方后多定行学法所民得经";
const ENTITIES =
  "customer order invoice payment refund product shipment account user ticket contract employee store price".split(" ");
const FIELDS =
  "id name status created_at updated_at amount currency country email type total quantity due_date note".split(" ");

export interface Vocabulary {
  /** By language; the common ones first. */
  words: Record<string, readonly string[]>;
  /** Of a word by its place: how often words are used falls as in real texts. */
  pick(language: string): string;
}

export function makeVocabulary(dice: Dice): Vocabulary {
  const words: Record<string, string[]> = {};
  for (const [language, syllables] of Object.entries(SYLLABLES)) {
    const made = new Set(MOST_COMMON[language]!.split(" "));
    while (made.size < WORDS_PER_LANGUAGE) {
      made.add(Array.from({ length: 2 + dice.below(3) }, () => dice.of(syllables)).join(""));
    }
    words[language] = [...made];
  }
  return { words, pick: (language) => words[language]![Math.floor(WORDS_PER_LANGUAGE ** dice.next()) - 1]! };
}

/** `table` and `column` names as databases have them. */
export function identifier(dice: Dice, number: number): string {
  const parts = [dice.of(ENTITIES), dice.of(ENTITIES), dice.of(FIELDS), `${number % 500}`];
  if (dice.next() < 0.5) return parts.join("_");
  return parts.map((part) => part.replace(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase())).join("");
}

/** A page of 50 to 800 words: mostly English, and German, Russian, Greek or Chinese, with names of tables and columns. */
export function makeDocument(dice: Dice, vocabulary: Vocabulary, number: number): SearchDocument {
  const languages = Object.keys(vocabulary.words);
  const language = dice.next() < 0.6 ? languages[0]! : dice.of(languages);
  const length = 50 + Math.floor(750 * dice.next() ** 3);
  const words: string[] = [];
  for (let index = 0; index < length; index += 1) {
    const kind = dice.next();
    if (kind < 0.04) words.push(identifier(dice, number + index));
    else if (kind < 0.05) words.push(Array.from({ length: 6 }, () => HAN[dice.below(HAN.length)]).join(""));
    else words.push(vocabulary.pick(language));
    if (dice.next() < 0.08) words.push(".\n");
  }
  const isTable = number % 4 === 0;
  const name = identifier(dice, number);
  return {
    key: isTable ? `table:shop/public.${name}_${number}` : `page:${number}`,
    kind: isTable ? "table" : "page",
    title: isTable ? name : `${vocabulary.pick(language)} ${vocabulary.pick(language)} ${vocabulary.pick(language)}`,
    text: words.join(" "),
    filters: { connection: number % 10 === 0 ? "crm" : "shop" },
    hash: `${number}`,
  };
}

export function makeVector(dice: Dice, length: number): Float32Array {
  return Float32Array.from({ length }, () => dice.next() - 0.5);
}
