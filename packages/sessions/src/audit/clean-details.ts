import { createHash } from "node:crypto";

const LONGEST = 400;
const MAX_ITEMS = 40;
const DEEPEST = 6;
const REDACTED = "[redacted]";

/** Fields whose values are always secret. */
const SECRET_NAME = /pass(word|wd|phrase)?$|secret|token$|api[-_]?key|authorization|credential|cookie|private[-_]?key/i;

/** Credentials recognised by their format or by the preceding word. */
const SHAPES: readonly RegExp[] = [
  /\btandem_[\w-]{20,}/g,
  /\bsk-[\w-]{16,}/g,
  /\b(?:Bearer|Basic)\s+[\w.~+/=-]{8,}/gi,
  /\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*/g,
  /\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abprs]-[\w-]{10,}/g,
  /\bya29\.[\w-]{16,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /(?<=\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]*:)[^\s/@]+(?=@)/gi,
  // `PASSWORD=…`, `api_key: …` and `--token …` in commands and files.
  /(?<=(?:password|passwd|passphrase|secret|token|api[-_]?key)["']?\s{0,3}[=:]\s{0,3})(?:"[^"]*"|'[^']*'|[^\s"']{4,})/gi,
  /(?<=--?(?:[\w-]*-)?(?:password|passwd|passphrase|secret|token|api[-_]?key)\s{1,3})(?:"[^"]*"|'[^']*'|[^\s"'-][^\s"']{3,})/gi,
];

export const cleanText = (text: string): string => {
  const clean = SHAPES.reduce((rest, shape) => rest.replaceAll(shape, REDACTED), text);
  return clean.length > LONGEST ? `${clean.slice(0, LONGEST)}… (${clean.length - LONGEST} more)` : clean;
};

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
    return [name, isSecret ? REDACTED : clean(inner, depth + 1)];
  });
  if (entries.length > MAX_ITEMS) kept.push(["…", `${entries.length - MAX_ITEMS} more`]);
  return Object.fromEntries(kept);
}

/** SHA-256 of a value's JSON, to compare with a copy of it. */
export const fingerprint = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value) ?? "null")
    .digest("hex");
