import { redactText } from "@tandem/protocol";
import { isIPv4, isIPv6 } from "node:net";

/** Tests of single values. Checksums keep ordinary numbers out. */

const EMAIL = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)*\.\p{L}{2,}/u;

export const isEmail = (text: string): boolean => new RegExp(`^${EMAIL.source}$`, "u").test(text.trim());

/** An international or bracketed number. Plain digits are a phone number only if the column says so. */
export const isPhone = (text: string): boolean =>
  /^(\+|00)[1-9][\d ()./-]{6,18}\d$/.test(text) || /^\(?0?\d{2,5}\)[ -]?\d[\d -]{4,}\d$/.test(text);

export function isDialled(text: string): boolean {
  const digits = text.replaceAll(/\D/g, "").length;
  return digits >= 6 && digits <= 15 && /^[+(\d][\d\s()./+-]*(\s?(x|ext\.?)\s?\d+)?$/i.test(text.trim());
}

export function isIban(text: string): boolean {
  const iban = text.replaceAll(/\s/g, "").toUpperCase();
  if (!/^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/.test(iban)) return false;
  const digits = `${iban.slice(4)}${iban.slice(0, 4)}`
    .split("")
    .map((character) => Number.parseInt(character, 36))
    .join("");
  let rest = 0;
  for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
  return rest === 1;
}

export function isCardNumber(text: string): boolean {
  const digits = text.replaceAll(/[ -]/g, "");
  return (
    /^(4\d{12}(\d{3})?(\d{3})?|5[1-5]\d{14}|2[2-7]\d{14}|3[47]\d{13}|3[0689]\d{12}|6\d{15})$/.test(digits) &&
    hasLuhn(digits)
  );
}

function hasLuhn(digits: string): boolean {
  let sum = 0;
  for (const [at, digit] of digits.split("").toReversed().entries()) {
    const doubled = Number(digit) * (at % 2 === 1 ? 2 : 1);
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

export const isIpAddress = (text: string): boolean => {
  const address = text.trim().replace(/\/\d{1,3}$/, "");
  return isIPv4(address) || (isIPv6(address) && address.length > 3);
};

/** Numbers whose form or checksum only a national id has. */
export const isNationalId = (text: string): boolean =>
  /^(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}$/.test(text) ||
  /^[A-CEGHJ-PR-TW-Z]{2} ?(\d{2} ?){3}[A-D]$/.test(text) ||
  /^[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]$/.test(text) ||
  /^756\.\d{4}\.\d{4}\.\d{2}$/.test(text) ||
  /^\d{3}\.\d{3}\.\d{3}-\d{2}$/.test(text) ||
  isDni(text) ||
  isPensionNumber(text);

const isDni = (text: string): boolean =>
  /^\d{8}-?[A-Z]$/.test(text) && "TRWAGMYFPDXBNJZSQVHLCKE"[Number(text.slice(0, 8)) % 23] === text.at(-1);

/** German: area, birth date, first letter of the birth name, serial number, check digit. */
const isPensionNumber = (text: string): boolean =>
  /^\d{2} ?([0-2]\d|3[01])(0\d|1[0-2])\d{2} ?[A-Z] ?\d{2} ?\d$/.test(text);

/** The German tax identification number, by its check digit (ISO 7064). */
export function isTaxId(text: string): boolean {
  const digits = text.replaceAll(" ", "");
  if (!/^[1-9]\d{10}$/.test(digits)) return false;
  let product = 10;
  for (const digit of digits.slice(0, 10)) {
    const sum = (Number(digit) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === Number(digits[10]);
}

const STREET_END = "(str(\\.|asse|aße)|stra(ss|ß)e|weg|platz|allee|gasse|ring|damm|ufer|chaussee|steig|pfad|hof)";
const STREETS = [
  new RegExp(`${STREET_END}[ ,]+\\d+ ?[a-z]?\\b`, "iu"),
  /^(unter|am|an|auf|im|zum|zur|in) .*\p{L} \d+ ?[a-z]?$/iu,
  /^\d+[a-z]?,? .*\b(st|street|ave|avenue|rd|road|blvd|boulevard|ln|lane|dr|drive|ct|court|way|square|sq|pl|place|hwy|terrace|close|crescent)\b\.?/iu,
  /^\d+(bis|ter)?,? (rue|avenue|boulevard|place|chemin|quai) /iu,
  /^(rue|avenue|via|viale|piazza|calle|avenida|plaza|rua|ulica|ul\.) .*\d/iu,
  /^(p\.? ?o\.? box|postfach) \d/iu,
];
export const isStreetAddress = (text: string): boolean => STREETS.some((pattern) => pattern.test(text.trim()));

export const isBirthDate = (text: string): boolean => {
  const year = Number(/(?<!\d)(1[89]\d{2}|20\d{2})(?!\d{3})/.exec(text)?.[1]);
  return year >= 1880 && year <= 2100 && /^\d[\d.\-/ :TZ+]*$/.test(text);
};

/** Passwords' hashes, keys and tokens by their form. */
export const isSecret = (text: string): boolean =>
  /^\$(2[abxy]|argon2(id|i|d)|scrypt|pbkdf2[\w-]*|[156])\$/.test(text) ||
  /^eyJ[\w-]{8,}\.[\w-]+\./.test(text) ||
  text.startsWith("-----BEGIN ") ||
  redactText(text) !== text;

export function isPosition(text: string): boolean {
  if (/^(SRID=\d+;)?POINT ?\(/i.test(text)) return true;
  const [, first, second] = /^\(?(-?\d{1,3}\.\d{3,}),\s?(-?\d{1,3}\.\d{3,})\)?$/.exec(text) ?? [];
  return first !== undefined && Math.abs(Number(first)) <= 180 && Math.abs(Number(second)) <= 180;
}

/** Whether a text, such as a note, contains data that identifies a person or opens an account. */
export function holdsPersonalData(text: string): boolean {
  if (EMAIL.test(text) || isSecret(text)) return true;
  const ibans = text.match(/\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{2,4}){3,8}\b/g) ?? [];
  const cards = text.match(/(?<![\d-])\d(?:[ -]?\d){12,18}(?![\d-])/g) ?? [];
  return ibans.some(isIban) || cards.some((card) => /[ -]/.test(card) && isCardNumber(card));
}
