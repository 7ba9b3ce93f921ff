import { createHash } from "node:crypto";
import { REDACTED, redactText, type AuditNote } from "@tandem/protocol";

const LONGEST = 400;
const MAX_ITEMS = 40;
const DEEPEST = 6;

/** Fields whose values are always secret. */
const SECRET_NAME = /pass(word|wd|phrase)?$|secret|token$|api[-_]?key|authorization|credential|cookie|private[-_]?key/i;

/** Secrets recognised by the text around them, in addition to credentials with a format of their own. */
const SHAPES: readonly RegExp[] = [
  /(?<![a-z])sk-[\w-]{16,}/gi,
  /(?:Bearer|Basic)\s{1,3}[\w.~+/=-]{8,}/gi,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  // `PASSWORD=…`, `api_key: …` and `--token …` in commands and files.
  /(?<=(?:password|passwd|passphrase|secret|token|api[-_]?key)["']?\s{0,3}[=:]\s{0,3})(?:"[^"]*"|'[^']*'|[^\s"']{4,})/gi,
  /(?<=--?(?:[\w-]*-)?(?:password|passwd|passphrase|secret|token|api[-_]?key)\s{1,3})(?:"[^"]*"|'[^']*'|[^\s"'-][^\s"']{3,})/gi,
];

export const cleanText = (text: string): string => {
  const clean = SHAPES.reduce((rest, shape) => rest.replaceAll(shape, REDACTED), redactText(text));
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}… (${clean.length - LONGEST} more)` : clean;
};

export const cleanNote = (note: AuditNote): AuditNote => ({
  ...note,
  actor: cleanText(note.actor),
  details: cleanDetails(note.details),
});

/** Redacts secrets, then truncates long values. */
export function cleanDetails(details: Record<string, unknown>): Record<string, unknown> {
  return clean(details, 0) as Record<string, unknown>;
}

function clean(value: unknown, depth: number): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= DEEPEST) return "…";
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => clean(item, depth + 1));
    return value.length > MAX_ITEMS ? [...items, `… (${value.length - MAX_ITEMS} more)`] : items;
  }
  const entries = Object.entries(value).filter(([, inner]) => inner !== undefined);
  const kept = entries.slice(0, MAX_ITEMS).map(([name, inner]): [string, unknown] => {
    const isSecret = SECRET_NAME.test(name) && (typeof inner === "string" || typeof inner === "object");
    return [cleanText(name), isSecret ? REDACTED : clean(inner, depth + 1)];
  });
  if (entries.length > MAX_ITEMS) kept.push(["…", `${entries.length - MAX_ITEMS} more`]);
  return Object.fromEntries(kept);
}

/** SHA-256 of a value's JSON, to compare with a copy of it. */
export const fingerprint = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value) ?? "null")
    .digest("hex");
