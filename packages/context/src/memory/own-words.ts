import { plainWords } from "./statement.ts";

// Whether a statement is what a person said, word for word, is what a rule may rest on: a model that was talked into
// something by a document can name any message as its reason, but it cannot put its words into that message.

/** A message that is longer holds more than a person types: something was pasted. */
const LONGEST_MESSAGE = 2_000;

/** What may stand before or after a statement without changing what it says. */
const OPENINGS =
  /^(?:(?:no|yes|ok|okay|well|actually|please|also|and|but|so|hey|sorry|right|thanks|thank you|nein|ja|bitte|also|und|aber)[\s,:;.!–-]+|(?:please\s+)?(?:remember|note|keep in mind|mind|merk dir|beachte)(?:\s+that|\s+this|,\s*dass)?[\s,:–-]+|for the record[\s,:–-]+|from now on[\s,:–-]+|(?:just\s+)?so you know[\s,:–-]+)/iu;

/** Elements, code and quotations: others' words, wherever they stand. One that has no end goes to the end. */
const OTHERS =
  /(?:```+|~~~+)[\s\S]*?(?:```+|~~~+|$)|<([\w-]+)[^>]*>[\s\S]*?(?:<\/\1\s*>|$)|“[^”]*(?:”|$)|„[^“”]*(?:[“”]|$)|«[^»]*(?:»|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|(?<=^|[\s(])'[^']*'(?=$|[\s).,;:!?])/g;

/** The sentences of a message that its sender typed: without what is quoted, fenced, marked up, or introduced by a colon. */
export function ownSentences(message: string): string[] {
  if (message.length > LONGEST_MESSAGE) return [];
  const typed: string[] = [];
  for (const line of message.replaceAll(OTHERS, " … ").split(/\r?\n/)) {
    // Somebody else's words, or the mark-up of a page.
    if (/^\s*(?:[>|<]|#{1,6}\s)|^(?:\t| {4,})\S/.test(line)) continue;
    // From here on it is what was announced, whoever wrote it.
    if (/[:：]\s*$/u.test(line)) break;
    typed.push(line);
  }
  return typed
    .flatMap((line) => line.split(/(?<=[.!?。！？])\s+/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/** Whether every sentence of a statement is a whole sentence of these messages, but for words that only open it. */
export function isInOwnWords(statement: string, messages: readonly string[]): boolean {
  const said = new Set(messages.flatMap(ownSentences).flatMap(withoutOpenings).map(plainWords));
  const sentences = statement
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map(plainWords)
    .filter((sentence) => sentence !== "");
  return sentences.length > 0 && sentences.every((sentence) => said.has(sentence));
}

/** With each opening taken away that stands before the rest. */
function withoutOpenings(sentence: string): string[] {
  const forms = [sentence];
  for (let rest = sentence; ;) {
    const shorter = rest.replace(OPENINGS, "");
    if (shorter === rest || shorter === "") return forms;
    forms.push(shorter);
    rest = shorter;
  }
}
