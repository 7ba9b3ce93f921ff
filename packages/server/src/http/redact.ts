import { REDACTED, redactText, redactValue } from "@tandem/protocol";

/** A token without a format of its own, known by the preceding word. */
const AFTER_BEARER = /(?<=Bearer\s{1,3})[\w.~+/=-]{16,}/gi;

/** Redacts credentials in a text for a log or a client. */
export const redact = (text: string): string => redactText(text).replaceAll(AFTER_BEARER, REDACTED);

/**
 * Redacts a line of JSON for a log. Its strings are redacted one by one: in the line itself, escapes hide where a credential
 * begins.
 */
export function redactLine(line: string): string {
  const value: unknown = JSON.parse(line);
  const clean = redactValue(value);
  const safe = clean === value ? line : JSON.stringify(clean) + (line.endsWith("\n") ? "\n" : "");
  return safe.replaceAll(AFTER_BEARER, REDACTED);
}

/** The path of a request for a log. A credential may be there in percent-encoding, also in one that was encoded again. */
export function redactPath(path: string): string {
  const clean = redact(path);
  let decoded = clean;
  for (let round = 0; round < 3 && decoded.includes("%"); round++) {
    // One by one: a code that is no ASCII must not keep the others from being decoded.
    decoded = decoded.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
    const redacted = redact(decoded);
    if (redacted !== decoded) return redacted;
  }
  return clean;
}
