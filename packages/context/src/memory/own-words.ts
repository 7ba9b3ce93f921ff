import { plainWords } from "./statement.ts";

// Rules may accept only literal statements of a user. A model fooled by a document can cite any message as reason, but
// it cannot put text into that message.

/** A longer message was probably pasted. */
const MAX_MESSAGE = 2_000;

/** Openings and endings that do not change a statement. */
const OPENINGS =
  /^(?:(?:no|yes|ok|okay|well|actually|please|also|and|but|so|hey|sorry|right|thanks|thank you|nein|ja|bitte|also|und|aber)[\s,:;.!–-]+|(?:please\s+)?(?:remember|note|keep in mind|mind|merk dir|beachte)(?:\s+that|\s+this|,\s*dass)?[\s,:–-]+|for the record[\s,:–-]+|from now on[\s,:–-]+|(?:just\s+)?so you know[\s,:–-]+)/iu;

/** Elements, code and quotations contain other people's text. An unterminated one extends to the end. */
const OTHERS =
  /(?:```+|~~~+)[\s\S]*?(?:```+|~~~+|$)|<([\w-]+)[^>]*>[\s\S]*?(?:<\/\1\s*>|$)|“[^”]*(?:”|$)|„[^“”]*(?:[“”]|$)|«[^»]*(?:»|$)|"[^"]*(?:"|$)|`[^`]*(?:`|$)|(?<=^|[\s(])'[^']*'(?=$|[\s).,;:!?])/g;

/** The sentences that the sender typed: without quotations, fences, markup, or text announced by a colon. */
export function ownSentences(message: string): string[] {
  if (message.length > MAX_MESSAGE) return [];
  const typed: string[] = [];
  for (const line of message.replaceAll(OTHERS, " … ").split(/\r?\n/)) {
    // Quoted text or page markup.
    if (/^\s*(?:[>|<]|#{1,6}\s)|^(?:\t| {4,})\S/.test(line)) continue;
    // Everything after a colon may be someone else's text.
    if (/[:：]\s*$/u.test(line)) break;
    typed.push(line);
  }
  return typed
    .flatMap((line) => line.split(/(?<=[.!?。！？])\s+/u))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence !== "");
}

/** Whether every sentence of a statement is a complete sentence of these messages, apart from openings. */
export function isInOwnWords(statement: string, messages: readonly string[]): boolean {
  const said = new Set(messages.flatMap(ownSentences).flatMap(withoutOpenings).map(plainWords));
  const sentences = statement
    .split(/(?<=[.!?。！？])\s+|\n+/u)
    .map(plainWords)
    .filter((sentence) => sentence !== "");
  return sentences.length > 0 && sentences.every((sentence) => said.has(sentence));
}

/** Variants without each leading opening. */
function withoutOpenings(sentence: string): string[] {
  const forms = [sentence];
  for (let rest = sentence; ;) {
    const shorter = rest.replace(OPENINGS, "");
    if (shorter === rest || shorter === "") return forms;
    forms.push(shorter);
    rest = shorter;
  }
}
